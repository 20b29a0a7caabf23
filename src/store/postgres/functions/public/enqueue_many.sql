-- Many jobs in one call, all of them or none:
--
--     SELECT * FROM taskharbor.enqueue_many('[{"type": "email:send", "payload": {"to": "ada"}}, …]');
--
-- They are read, checked and, unless one of them has a key of either kind, stored set-wise.

CREATE OR REPLACE FUNCTION enqueue_many(jobs jsonb)
RETURNS TABLE (id uuid, state text, existed boolean, updated boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET jit = off SET work_mem = '64MB' AS $$
#variable_conflict use_column
DECLARE
    now_ bigint := usec_of(clock_timestamp());
    limits meta;
    said record;
    answers enqueued[];
    code_ text := 'TH002';
BEGIN
    SELECT * INTO limits FROM meta;
    said := read_many(jobs, now_, limits);
    IF said.wrong IS NULL AND are_plain(said.specs) THEN
        RETURN QUERY SELECT a.id, state_word(a.state), a.existed, a.updated
        FROM store_plain(said.specs, now_) a;
    ELSIF said.wrong IS NULL THEN
        answers := ARRAY(SELECT a FROM enqueue_specs(said.specs, now_) a);
        code_ := 'TH001';
        said.wrong := item_label(cardinality(answers), cardinality(said.specs))
            || answers[cardinality(answers)].conflict;
        RETURN QUERY SELECT a.id, state_word(a.state), a.existed, a.updated FROM unnest(answers) a;
    END IF;
    IF said.wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = code_, MESSAGE = said.wrong,
            HINT = coalesce(hint_of(code_, said.wrong), 'None of the jobs was stored.');
    END IF;
    IF any_is_due_soon(said.specs, now_) THEN
        PERFORM ring_with_commit();
    END IF;
END $$;
