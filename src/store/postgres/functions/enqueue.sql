-- A job comes in. Looked at in this order: the idempotency record, the id, the key. The first that
-- answers ends it; otherwise the job is new and gets its row and its place.

CREATE TYPE job_spec AS (
    id uuid, queue text, type text, encoding smallint, priority smallint, run_at bigint,
    timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int, key text,
    update_flags smallint, idempotency_key text, idempotency_expires bigint, payload bytea,
    headers bytea, tags text[]
);

-- What became of a job that was to come in. One with a conflict must not: its caller raises the sentence.
CREATE TYPE enqueued AS (id uuid, state smallint, existed boolean, updated boolean, conflict text);

CREATE FUNCTION standing_of_spec(spec job_spec, queue_id_ int, now_ bigint) RETURNS standing
LANGUAGE plpgsql AS $$
DECLARE
    st standing;
BEGIN
    st.id := spec.id;
    st.queue_id := queue_id_;
    st.type := spec.type;
    st.priority := spec.priority;
    st.run_at := spec.run_at;
    st.due := coalesce(spec.run_at, now_);
    st.timeout := spec.timeout;
    st.max_attempts := spec.max_attempts;
    st.max_stalls := spec.max_stalls;
    st.attempts := spec.attempts;
    st.stalls := spec.stalls;
    st.executions := 0;
    st.key := spec.key;
    st.update_flags := spec.update_flags;
    st.tagged := tags_text(spec.tags) IS NOT NULL;
    RETURN st;
END $$;

-- The waiting twin takes what the newcomer's flags say, and perhaps another place.
CREATE FUNCTION update_waiting(twin standing, spec job_spec, newcomer standing, now_ bigint)
RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE
    st standing;
BEGIN
    twin := hold(twin.seq);
    st := merge(twin, newcomer, spec.update_flags);
    IF merge_moves(twin.due, newcomer.due, spec.update_flags) AND st.state <> :JOB_BLOCKED THEN
        st.state := state_when_due(st.due, now_);
    END IF;
    IF spec.update_flags & :KEYED_PAYLOAD <> 0 THEN
        PERFORM tags_leave(ARRAY[st.seq]);
        UPDATE job SET encoding = spec.encoding, payload = spec.payload, headers = spec.headers,
            tags = tags_text(spec.tags)
        WHERE seq = st.seq;
        PERFORM tags_enter(st.seq);
        st.tagged := newcomer.tagged;
    END IF;
    PERFORM place_remove(twin);
    st.aside := NULL; -- who meets it next sees whether it can be run now
    -- A blocked one is still to be merged into the running one: what its own enqueue asked for must
    -- not be lost because a later one asked for less.
    PERFORM write_merge(st, CASE WHEN twin.state = :JOB_BLOCKED
        THEN flags_join(twin.update_flags, spec.update_flags) ELSE spec.update_flags END);
    PERFORM place_add(st);
    RETURN st.state;
END $$;

CREATE FUNCTION answer_existing(id_ uuid) RETURNS enqueued LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (id_, coalesce(state_of(id_), :JOB_DONE::smallint), true, false, NULL)::enqueued;
END $$;

CREATE FUNCTION enqueue_new(spec job_spec, st standing, twins keyed, now_ bigint)
RETURNS enqueued LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job (id, queue_id, type, encoding, priority, due, run_at, timeout, max_attempts,
        max_stalls, attempts, stalls, executions, created_at, key, update_flags, idempotency_key,
        payload, headers, tags)
    VALUES (st.id, st.queue_id, st.type, spec.encoding, st.priority, st.due, st.run_at, st.timeout,
        st.max_attempts, st.max_stalls, st.attempts, st.stalls, 0, now_, st.key,
        CASE WHEN st.key IS NULL THEN nullif(st.update_flags & ~:KEYED_FLAGS, 0)
            ELSE st.update_flags END,
        spec.idempotency_key, spec.payload, spec.headers, tags_text(spec.tags))
    ON CONFLICT (id) DO NOTHING RETURNING seq INTO st.seq;
    IF NOT FOUND THEN
        DELETE FROM idempotency WHERE queue_id = st.queue_id AND key = spec.idempotency_key
            AND id = spec.id;
        PERFORM let_go(st);
        RETURN answer_existing(spec.id);
    END IF;
    st.state := CASE WHEN twins.running IS NOT NULL THEN :JOB_BLOCKED
        ELSE state_when_due(st.due, now_) END;
    PERFORM place_add(st);
    IF st.tagged THEN
        PERFORM tags_enter(st.seq);
    END IF;
    IF st.key IS NOT NULL THEN
        twins.waiting := st.seq;
        PERFORM twins_store(twins);
    END IF;
    RETURN (st.id, st.state, false, false, NULL)::enqueued;
END $$;

CREATE FUNCTION key_conflict(spec job_spec, twin standing) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format('key ''%s'' of queue ''%s'' %s with type ''%s'': a job of type ''%s'' cannot %s',
        spec.key, spec.queue, CASE WHEN twin.state = :JOB_RUNNING THEN 'runs' ELSE 'waits' END,
        twin.type, spec.type,
        CASE WHEN twin.state = :JOB_RUNNING THEN 'wait for it' ELSE 'update it' END);
$$;

-- One job.
CREATE FUNCTION enqueue_one(spec job_spec, now_ bigint) RETURNS enqueued LANGUAGE plpgsql AS $$
DECLARE
    queue_id_ int := queue_make(spec.queue);
    st standing := standing_of_spec(spec, queue_id_, now_);
    twins keyed;
    twin standing;
    stored_id uuid;
    state_ smallint;
BEGIN
    IF spec.idempotency_key IS NOT NULL THEN
        SELECT id INTO stored_id FROM idempotency
        WHERE queue_id = queue_id_ AND key = spec.idempotency_key AND expires_at > now_;
        IF FOUND THEN
            RETURN answer_existing(stored_id);
        END IF;
    END IF;
    PERFORM FROM job WHERE id = spec.id;
    IF FOUND THEN
        RETURN answer_existing(spec.id);
    END IF;
    IF spec.key IS NOT NULL THEN
        twins := twins_lock(queue_id_, spec.key);
    END IF;
    IF spec.idempotency_key IS NOT NULL THEN
        INSERT INTO idempotency AS record (queue_id, key, id, expires_at)
        VALUES (queue_id_, spec.idempotency_key, spec.id, spec.idempotency_expires)
        ON CONFLICT (queue_id, key) DO UPDATE SET id = excluded.id, expires_at = excluded.expires_at
            WHERE record.expires_at <= now_;
        IF NOT FOUND THEN
            SELECT id INTO stored_id FROM idempotency
            WHERE queue_id = queue_id_ AND key = spec.idempotency_key;
            PERFORM let_go(st);
            RETURN answer_existing(coalesce(stored_id, spec.id));
        END IF;
    END IF;
    IF spec.key IS NOT NULL THEN
        twin := standing_of(coalesce(twins.waiting, twins.running));
        IF twin.type <> spec.type THEN
            RETURN (NULL, NULL, false, false, key_conflict(spec, twin))::enqueued;
        END IF;
        IF twin.state <> :JOB_RUNNING THEN
            state_ := update_waiting(twin, spec, st, now_);
            UPDATE idempotency SET id = twin.id
            WHERE queue_id = queue_id_ AND key = spec.idempotency_key;
            RETURN (twin.id, state_, false, true, NULL)::enqueued;
        END IF;
    END IF;
    RETURN enqueue_new(spec, st, twins, now_);
END $$;

-- ---- several ----

-- Which of several a sentence is about.
CREATE FUNCTION item_label(n bigint, total int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN total = 1 THEN '' ELSE 'job ' || n || ': ' END;
$$;

CREATE FUNCTION idempotency_lock(queue_id_ int, key_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO idempotency AS record (queue_id, key, id, expires_at)
    VALUES (queue_id_, key_, '00000000-0000-0000-0000-000000000000', 0)
    ON CONFLICT (queue_id, key) DO UPDATE SET expires_at = record.expires_at;
END $$;

-- All keys are locked first, then all idempotency records, each in one order, so that two such calls cannot
-- wait for each other. A record that is made for this has expired already, so it counts only when
-- enqueue_one() makes it the job's. The keys are answered for let_go_all().
CREATE FUNCTION lock_specs(specs job_spec[]) RETURNS keyed[] LANGUAGE plpgsql AS $$
DECLARE
    keys keyed[];
BEGIN
    SELECT array_agg(twins_lock(k.queue_id, k.key)) INTO keys FROM (
        SELECT queue_make(s.queue) AS queue_id, s.key FROM unnest(specs) s
        WHERE s.key IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2) k;
    PERFORM idempotency_lock(r.queue_id, r.key) FROM (
        SELECT queue_make(s.queue) AS queue_id, s.idempotency_key AS key FROM unnest(specs) s
        WHERE s.idempotency_key IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2) r;
    RETURN keys;
END $$;

-- Several, in order, all or none: the first conflict is the last answer.
CREATE FUNCTION enqueue_specs(specs job_spec[], now_ bigint)
RETURNS SETOF enqueued LANGUAGE plpgsql AS $$
DECLARE
    keys keyed[];
    spec job_spec;
    answer enqueued;
BEGIN
    IF cardinality(specs) > 1 THEN
        keys := lock_specs(specs);
    END IF;
    FOREACH spec IN ARRAY specs LOOP
        answer := enqueue_one(spec, now_);
        RETURN NEXT answer;
        EXIT WHEN answer.conflict IS NOT NULL;
    END LOOP;
    PERFORM let_go_all(keys);
END $$;

-- The same with conflicts raised.
CREATE FUNCTION enqueue_items(specs json, now_ bigint) RETURNS SETOF enqueued LANGUAGE plpgsql AS $$
DECLARE
    total int := json_array_length(specs);
    n int := 0;
    answer enqueued;
BEGIN
    FOR answer IN SELECT * FROM enqueue_specs(
        ARRAY(SELECT s FROM json_populate_recordset(NULL::job_spec, specs) s), now_)
    LOOP
        n := n + 1;
        IF answer.conflict IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'TH001',
                MESSAGE = item_label(n, total) || answer.conflict;
        END IF;
        RETURN NEXT answer;
    END LOOP;
END $$;

-- ---- in groups ----

-- The records of specs that are not stored: those that were made for them, and expired ones.
CREATE FUNCTION idempotency_let_go(specs job_spec[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM idempotency i USING unnest(specs) s
    WHERE i.queue_id = queue_of(s.queue) AND i.key = s.idempotency_key
        AND i.id IN (s.id, '00000000-0000-0000-0000-000000000000');
$$;

-- One group, which is locked: all or none. `refused` is the number of the job with a conflict, the only answer
-- then, or 0. What is refused has written nothing but its record, so there is only something to take back where
-- others come before it.
CREATE FUNCTION enqueue_group(specs job_spec[], now_ bigint, OUT answers enqueued[], OUT refused int)
LANGUAGE plpgsql AS $$
DECLARE
    n int := 0;
    spec job_spec;
BEGIN
    refused := 0;
    BEGIN
        FOREACH spec IN ARRAY specs LOOP
            n := n + 1;
            answers[n] := enqueue_one(spec, now_);
            IF (answers[n]).conflict IS NOT NULL THEN
                RAISE EXCEPTION USING ERRCODE = 'TH001';
            END IF;
        END LOOP;
    EXCEPTION WHEN SQLSTATE 'TH001' THEN
        answers := ARRAY[answers[n]];
        refused := n;
        PERFORM idempotency_let_go(specs);
    END;
END $$;

-- The same for one that cannot be refused half-way: a subtransaction costs what a row does.
CREATE FUNCTION enqueue_simple_group(specs job_spec[], now_ bigint, OUT answers enqueued[], OUT refused int)
LANGUAGE plpgsql AS $$
DECLARE
    spec job_spec;
BEGIN
    refused := 0;
    FOREACH spec IN ARRAY specs LOOP
        answers := answers || enqueue_one(spec, now_);
    END LOOP;
    IF (answers[1]).conflict IS NOT NULL THEN
        refused := 1;
        PERFORM idempotency_let_go(specs);
    END IF;
END $$;

CREATE FUNCTION has_key(specs job_spec[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    spec job_spec;
BEGIN
    FOREACH spec IN ARRAY specs LOOP
        IF spec.key IS NOT NULL THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;

-- Groups of so many, in order, each all or none.
CREATE FUNCTION enqueue_groups(specs json, sizes int[], now_ bigint)
RETURNS TABLE (refused int, id uuid, state smallint, existed boolean, updated boolean, conflict text)
LANGUAGE plpgsql AS $$
DECLARE
    given job_spec[] := ARRAY(SELECT s FROM json_populate_recordset(NULL::job_spec, specs) s);
    group_ job_spec[];
    answers enqueued[];
    refused_ int;
    keys keyed[];
    done int := 0;
    size int;
BEGIN
    IF cardinality(given) > 1 THEN
        keys := lock_specs(given);
    END IF;
    FOREACH size IN ARRAY sizes LOOP
        group_ := given[done + 1:done + size];
        done := done + size;
        IF size > 1 AND has_key(group_) THEN
            SELECT g.answers, g.refused INTO answers, refused_ FROM enqueue_group(group_, now_) g;
        ELSE
            SELECT g.answers, g.refused INTO answers, refused_
            FROM enqueue_simple_group(group_, now_) g;
        END IF;
        RETURN QUERY SELECT refused_, a.* FROM unnest(answers) a;
    END LOOP;
    PERFORM let_go_all(keys);
END $$;

-- ---- plain ones ----

-- Jobs without key, idempotency key or tags, set-wise: most of them. Of what all of them have as usual (one queue, no
-- run_at, no headers, the default priority) there is no array, and no element where a single one has it. `known`: their
-- ids may be there already. To look for those costs each job a fifth more, so it is left out otherwise, and if
-- one is there after all it begins anew. Answers only those that existed.
CREATE FUNCTION enqueue_plain(now_ bigint, known boolean, queues text[], queue_at int[], ids uuid[],
    types text[], payloads bytea[], encodings int[], priorities int[], max_attempts_ int[],
    max_stalls_ int[], attempts_ int[], stalls_ int[], run_ats bigint[], timeouts bigint[],
    headers_ bytea[])
RETURNS TABLE (n int, state_ smallint) LANGUAGE plpgsql AS $$
DECLARE
    queue_ids int[];
    fresh uuid[];
BEGIN
    FOR i IN 1..cardinality(queues) LOOP
        queue_ids[i] := queue_make(queues[i]);
    END LOOP;
    IF NOT known AND cardinality(queues) = 1 AND run_ats IS NULL THEN
        BEGIN
            WITH added AS (
                INSERT INTO job (id, queue_id, type, encoding, priority, due, timeout, max_attempts,
                    max_stalls, attempts, stalls, executions, created_at, payload, headers)
                SELECT ids[i], queue_ids[1], types[i], coalesce(encodings[i], :JOB_JSON),
                    coalesce(priorities[i], :JOB_PRIORITY_DEFAULT), now_, timeouts[i],
                    max_attempts_[i], max_stalls_[i], coalesce(attempts_[i], 0),
                    coalesce(stalls_[i], 0), 0, now_, payloads[i], headers_[i]
                FROM generate_series(1, cardinality(ids)) i
                RETURNING job.seq, job.priority, job.attempts > 0 OR job.stalls > 0 AS traces
            )
            INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
            SELECT queue_ids[1], a.priority, now_, a.seq, false, a.traces FROM added a;
            INSERT INTO counted (queue_id, ready) VALUES (queue_ids[1], cardinality(ids));
            RETURN;
        EXCEPTION WHEN unique_violation THEN
        END;
    END IF;
    WITH added AS (
        INSERT INTO job (id, queue_id, type, encoding, priority, due, run_at, timeout, max_attempts,
            max_stalls, attempts, stalls, executions, created_at, payload, headers)
        SELECT ids[i], queue_ids[coalesce(queue_at[i], 1)], types[i],
            coalesce(encodings[i], :JOB_JSON), coalesce(priorities[i], :JOB_PRIORITY_DEFAULT),
            coalesce(run_ats[i], now_), run_ats[i], timeouts[i], max_attempts_[i], max_stalls_[i],
            coalesce(attempts_[i], 0), coalesce(stalls_[i], 0), 0, now_, payloads[i], headers_[i]
        FROM generate_series(1, cardinality(ids)) i
        ON CONFLICT (id) DO NOTHING
        RETURNING job.seq, job.id, job.queue_id, job.priority, job.due,
            job.attempts > 0 OR job.stalls > 0 AS traces
    ), placed AS (
        INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
        SELECT a.queue_id, a.priority, a.due, a.seq, false, a.traces FROM added a WHERE a.due <= now_
    ), postponed AS (
        INSERT INTO waiting (state, due, seq, queue_id)
        SELECT :JOB_SCHEDULED, a.due, a.seq, a.queue_id FROM added a WHERE a.due > now_
    ), numbers AS (
        INSERT INTO counted (queue_id, scheduled, ready)
        SELECT a.queue_id, count(*) FILTER (WHERE a.due > now_),
            count(*) FILTER (WHERE a.due <= now_)
        FROM added a GROUP BY a.queue_id
    )
    SELECT array_agg(a.id) INTO fresh FROM added a;
    IF cardinality(fresh) = cardinality(ids) THEN
        RETURN;
    END IF;
    -- Place 0 stands for the row that was added: the first one of that id is it.
    RETURN QUERY SELECT g.place,
        coalesce((SELECT v.state FROM job_view v WHERE v.id = g.id), :JOB_DONE::smallint)
    FROM (
        SELECT u.id, u.place::int, row_number() OVER same_id > 2
            OR min(u.place) OVER same_id > 0 AS existed
        FROM (SELECT * FROM unnest(ids) WITH ORDINALITY
            UNION ALL SELECT f, 0 FROM unnest(fresh) f) u (id, place)
        WINDOW same_id AS (PARTITION BY u.id ORDER BY u.place)) g
    WHERE g.place > 0 AND g.existed;
END $$;

-- ---- by the clock ----

-- By a pool's scheduler, which waits for nobody: a key or a record that a transaction holds is a
-- conflict like another one's type, and the slot is tried again.
-- What is beyond the horizon was stored by a clock that was wrong.
CREATE FUNCTION cron_enqueue(name_ text, slot_ bigint, horizon bigint, specs json, now_ bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO cron AS last (name, slot) VALUES (name_, slot_)
    ON CONFLICT (name) DO UPDATE SET slot = excluded.slot
        WHERE excluded.slot > last.slot OR last.slot > horizon;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM set_config('lock_timeout', '50ms', true);
    PERFORM enqueue_items(specs, now_);
    PERFORM set_config('lock_timeout', '0', true);
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION USING ERRCODE = 'TH001', MESSAGE =
        'its key is held by a transaction that is not over yet: it is tried again';
END $$;
