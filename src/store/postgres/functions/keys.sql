-- Jobs with a key: whoever changes where one of them stands holds its row in `keyed`.

-- Our lock on the key, made if need be. twins_store() removes it when nobody needs it. It waits for
-- whoever has the key, so a pool calls it only for keys that it has seized.
CREATE FUNCTION twins_lock(queue_id_ int, key_ text) RETURNS keyed LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    LOOP
        SELECT * INTO twins FROM keyed WHERE queue_id = queue_id_ AND key = key_ FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO keyed (queue_id, key) VALUES (queue_id_, key_)
        ON CONFLICT (queue_id, key) DO NOTHING;
    END LOOP;
    RETURN twins;
END $$;

CREATE FUNCTION twins_store(twins keyed) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF twins.waiting IS NULL AND twins.running IS NULL THEN
        DELETE FROM keyed WHERE queue_id = twins.queue_id AND key = twins.key;
    ELSE
        UPDATE keyed SET waiting = twins.waiting, running = twins.running
        WHERE queue_id = twins.queue_id AND key = twins.key;
    END IF;
END $$;

-- Nobody else changes where the job stands from now on; who holds that is waited for. Reserve, a plain
-- ack, promote and prune need no more than the row that says where it stands, and it is looked for
-- again when it has moved meanwhile. Only one in a batch is not held: it would be held with all the others.
CREATE FUNCTION hold(seq_ bigint) RETURNS standing LANGUAGE plpgsql AS $$
DECLARE
    held job;
    twins keyed;
    none standing;
    st standing;
BEGIN
    SELECT queue_id, key INTO held.queue_id, held.key FROM job WHERE seq = seq_;
    IF NOT FOUND THEN
        RETURN none;
    END IF;
    IF held.key IS NOT NULL THEN
        twins := twins_lock(held.queue_id, held.key);
    END IF;
    FOR attempt IN 1..1000 LOOP
        SELECT queue_id, priority, due INTO held.queue_id, held.priority, held.due
        FROM job WHERE seq = seq_;
        IF NOT FOUND THEN
            IF held.key IS NOT NULL THEN
                PERFORM twins_store(twins);
            END IF;
            RETURN none;
        END IF;
        PERFORM FROM lease WHERE queue_id = held.queue_id AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM ready WHERE queue_id = held.queue_id AND priority = held.priority
            AND due = held.due AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM waiting WHERE state IN (:JOB_SCHEDULED, :JOB_BLOCKED, :JOB_RETRY)
            AND due = held.due AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM aside WHERE seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM ended WHERE seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        st := standing_of(seq_);
        EXIT WHEN st.in_batch;
    END LOOP;
    RETURN standing_of(seq_);
END $$;

-- All of these jobs, in the order that everybody keeps who needs several: first their keys, which are
-- answered for let_go_all(). The seqs are those of the ids: one that is removed and comes again meanwhile
-- is another job, which would be held out of order, so it is none of them. Those in batches are not
-- held, and their seqs are answered once more.
CREATE FUNCTION hold_all(ids uuid[], OUT seqs bigint[], OUT keys keyed[], OUT batched bigint[])
LANGUAGE plpgsql AS $$
BEGIN
    seqs := ARRAY(SELECT seq_of(u.id) FROM unnest(ids) WITH ORDINALITY u (id, n) ORDER BY u.n);
    SELECT array_agg(twins_lock(k.queue_id, k.key)) INTO keys FROM (
        SELECT j.queue_id, j.key FROM unnest(seqs) u (seq)
            CROSS JOIN LATERAL (SELECT queue_id, key FROM job WHERE job.seq = u.seq OFFSET 0) j
        WHERE j.key IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2) k;
    SELECT array_agg((h.st).seq) INTO batched FROM (SELECT hold(o.seq) AS st
        FROM (SELECT u.seq FROM unnest(seqs) u (seq) GROUP BY 1 ORDER BY 1) o OFFSET 0) h
    WHERE (h.st).in_batch;
END $$;

CREATE FUNCTION let_go_all(keys keyed[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM keyed k USING unnest(keys) u
    WHERE k.queue_id = u.queue_id AND k.key = u.key AND k.waiting IS NULL AND k.running IS NULL;
$$;

-- The same for a running job, by a pool: false when somebody else has it now. A key without a row is
-- damage; `mends` makes it anew.
CREATE FUNCTION seize(st standing, mends boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF st.key IS NOT NULL THEN
        PERFORM FROM keyed WHERE queue_id = st.queue_id AND key = st.key FOR UPDATE SKIP LOCKED;
        IF NOT FOUND AND mends THEN
            PERFORM FROM keyed WHERE queue_id = st.queue_id AND key = st.key;
            IF FOUND THEN
                RETURN false;
            END IF;
            PERFORM twins_lock(st.queue_id, st.key);
        ELSIF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    PERFORM FROM lease WHERE queue_id = st.queue_id AND seq = st.seq FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;

-- The same for a job without a key, wherever it stands.
CREATE FUNCTION seize_place(st standing) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF st.state = :JOB_RUNNING THEN
        PERFORM FROM lease WHERE queue_id = st.queue_id AND seq = st.seq FOR UPDATE SKIP LOCKED;
    ELSIF st.aside IS NOT NULL THEN
        PERFORM FROM aside WHERE seq = st.seq FOR UPDATE SKIP LOCKED;
    ELSIF st.state = :JOB_READY THEN
        PERFORM FROM ready WHERE queue_id = st.queue_id AND priority = st.priority
            AND due = st.due AND seq = st.seq FOR UPDATE SKIP LOCKED;
    ELSE
        PERFORM FROM waiting WHERE state = st.state AND due = st.due AND seq = st.seq
        FOR UPDATE SKIP LOCKED;
    END IF;
    RETURN FOUND;
END $$;

-- Whoever held a key only to look lets go of what twins_lock() may have made.
CREATE FUNCTION let_go(st standing) RETURNS void LANGUAGE sql AS $$
    DELETE FROM keyed WHERE st.key IS NOT NULL AND queue_id = st.queue_id AND key = st.key
        AND waiting IS NULL AND running IS NULL;
$$;

-- ---- merging, as keyed_merge() of job/keyed.c says ----

-- The flags are those of keyed_flags_pack().
CREATE FUNCTION merge_moves(waiting_due bigint, newcomer_due bigint, flags int)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE flags >> :KEYED_RUN_AT_SHIFT & :KEYED_RUN_AT_MASK
        WHEN :UPDATE_RUN_AT_ALWAYS THEN true
        WHEN :UPDATE_RUN_AT_NEVER THEN false
        WHEN :UPDATE_RUN_AT_IF_EARLIER THEN newcomer_due < waiting_due
        ELSE newcomer_due > waiting_due
    END;
$$;

CREATE FUNCTION merge(st standing, newcomer standing, flags int) RETURNS standing
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF merge_moves(st.due, newcomer.due, flags) THEN
        st.run_at := newcomer.run_at;
        st.due := newcomer.due;
    END IF;
    IF flags & :KEYED_PAYLOAD <> 0 THEN
        st.priority := newcomer.priority;
    END IF;
    IF flags & :KEYED_RETRY <> 0 THEN
        st.max_attempts := newcomer.max_attempts;
        st.max_stalls := newcomer.max_stalls;
        st.timeout := newcomer.timeout;
    END IF;
    IF flags & :KEYED_RESET_COUNTS <> 0 THEN
        st.attempts := 0;
        st.stalls := 0;
    END IF;
    RETURN st;
END $$;

-- What a blocked job is merged by after a second one was merged into it: whatever either asked for.
CREATE FUNCTION flags_join(first_ int, second_ int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT ((first_ | second_) & (:KEYED_PAYLOAD | :KEYED_RETRY | :KEYED_RESET_COUNTS))
        | (CASE WHEN first_ >> :KEYED_RUN_AT_SHIFT & :KEYED_RUN_AT_MASK = :UPDATE_RUN_AT_ALWAYS
                OR second_ >> :KEYED_RUN_AT_SHIFT & :KEYED_RUN_AT_MASK = :UPDATE_RUN_AT_NEVER
            THEN first_ ELSE second_ END & (:KEYED_RUN_AT_MASK << :KEYED_RUN_AT_SHIFT));
$$;

CREATE FUNCTION write_merge(st standing, flags int) RETURNS void LANGUAGE sql AS $$
    UPDATE job SET priority = st.priority, due = st.due, run_at = st.run_at, timeout = st.timeout,
        max_attempts = st.max_attempts, max_stalls = st.max_stalls, attempts = st.attempts,
        stalls = st.stalls, update_flags = flags
    WHERE seq = st.seq;
$$;
