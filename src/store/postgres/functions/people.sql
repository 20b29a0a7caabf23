-- What people do to jobs: repair() takes ids and answers a verdict per id, in order, a code of
-- <taskharbor/error.h>. Each of the others does it to one that is held.

CREATE FUNCTION cancel_one(st standing, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state >= :JOB_DONE THEN
        RETURN :TH_E_CONFLICT;
    END IF;
    IF st.state = :JOB_RUNNING THEN
        UPDATE lease SET cancel_requested_at = coalesce(cancel_requested_at, now_), traces = true
        WHERE queue_id = st.queue_id AND seq = st.seq;
        RETURN :TH_OK;
    END IF;
    PERFORM place_remove(st);
    PERFORM end_write(st, :JOB_CANCELLED, now_, NULL, NULL);
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        twins.waiting := NULL;
        PERFORM twins_store(twins);
    END IF;
    RETURN :TH_OK;
END $$;

-- What was asked for, and committed after the job had left its batch. What somebody else has locked is left
-- to the next time.
CREATE FUNCTION carry_out_cancels(now_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked to_cancel;
    st standing;
    was smallint;
BEGIN
    FOR asked IN SELECT * FROM to_cancel ORDER BY seq LIMIT 1000 FOR UPDATE SKIP LOCKED LOOP
        st := standing_of(asked.seq);
        was := st.state;
        IF st.in_batch THEN
            PERFORM unpack(ARRAY[st.queue_id], ARRAY[st.token]); -- which takes it along
            CONTINUE;
        END IF;
        IF st.seq IS NOT NULL AND coalesce(was < :JOB_DONE, true) THEN
            CONTINUE WHEN was IS NULL OR NOT seize_place(st); -- it moves just now
            st := standing_of(asked.seq);
            CONTINUE WHEN st.state IS DISTINCT FROM was;
            PERFORM cancel_one(st, now_);
        END IF;
        DELETE FROM to_cancel WHERE seq = asked.seq;
    END LOOP;
END $$;

CREATE FUNCTION run_one(st standing, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF st.state = :JOB_READY THEN
        RETURN :TH_OK;
    END IF;
    IF st.state IS NULL OR st.state NOT IN (:JOB_SCHEDULED, :JOB_RETRY) THEN
        RETURN :TH_E_CONFLICT;
    END IF;
    PERFORM place_remove(st);
    st.due := now_;
    st.state := :JOB_READY;
    UPDATE job SET due = now_, run_at = NULL WHERE seq = st.seq;
    PERFORM place_add(st);
    RETURN :TH_OK;
END $$;

CREATE FUNCTION requeue_one(st standing, run_at_ bigint, now_ bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state < :JOB_DEAD THEN
        RETURN :TH_E_CONFLICT;
    END IF;
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        -- Behind a running twin it would be blocked, and merged into that if it comes back: one of
        -- another type cannot be.
        IF twins.waiting IS NOT NULL
            OR (SELECT type FROM job WHERE seq = twins.running) <> st.type THEN
            RETURN :TH_E_CONFLICT;
        END IF;
    END IF;
    st.due := coalesce(run_at_, now_);
    st.state := CASE WHEN twins.running IS NOT NULL THEN :JOB_BLOCKED
        ELSE state_when_due(st.due, now_) END;
    st.attempts := 0;
    st.stalls := 0;
    UPDATE job SET due = st.due, run_at = run_at_, attempts = 0, stalls = 0,
        executions = st.executions
    WHERE seq = st.seq;
    UPDATE detail SET last_error = NULL, failed_at = NULL, reason = NULL, exit_code = NULL,
        signal = NULL, progress_percent = NULL, progress_text = NULL, result = NULL
    WHERE seq = st.seq;
    PERFORM end_remove(st.seq);
    DELETE FROM to_cancel WHERE seq = st.seq;
    PERFORM place_add(st);
    IF st.key IS NOT NULL THEN
        twins.waiting := st.seq;
        PERFORM twins_store(twins);
    END IF;
    RETURN :TH_OK;
END $$;

CREATE FUNCTION remove_one(st standing) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF st.state IS NULL OR st.state < :JOB_DONE THEN
        RETURN :TH_E_CONFLICT;
    END IF;
    DELETE FROM idempotency WHERE id = st.id;
    PERFORM forget(st.seq);
    RETURN :TH_OK;
END $$;

-- Jobs of batches are not held, and so are left alone wherever they are by now. One that is to be cancelled is
-- written down: the next one who unpacks it, or beats, sees to it.
CREATE FUNCTION repair(how text, ids uuid[], run_at_ bigint, now_ bigint) RETURNS SETOF int
LANGUAGE plpgsql AS $$
DECLARE
    held record := hold_all(ids);
    st standing;
BEGIN
    IF how = 'cancel' THEN
        INSERT INTO to_cancel (seq, asked_at) SELECT b, now_ FROM unnest(held.batched) b ORDER BY b
        ON CONFLICT DO NOTHING;
    END IF;
    FOR i IN 1..cardinality(ids) LOOP
        st := standing_of(held.seqs[i]);
        RETURN NEXT CASE
            WHEN st.seq IS NULL THEN :TH_E_NOT_FOUND
            WHEN st.seq = ANY (held.batched) THEN -- it ran when it was looked at
                CASE WHEN how = 'cancel' THEN :TH_OK ELSE :TH_E_CONFLICT END
            WHEN how = 'cancel' THEN cancel_one(st, now_)
            WHEN how = 'run now' THEN run_one(st, now_)
            WHEN how = 'requeue' THEN requeue_one(st, run_at_, now_)
            WHEN how = 'remove' THEN remove_one(st)
        END;
    END LOOP;
    PERFORM let_go_all(held.keys);
END $$;

CREATE FUNCTION set_paused(name_ text, paused_at_ bigint, by_ text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    queue_id_ int := queue_make(name_);
BEGIN
    PERFORM queues_enter(ARRAY[name_]);
    UPDATE queue SET
        paused_at = CASE WHEN paused_at_ IS NULL THEN NULL ELSE coalesce(paused_at, paused_at_) END,
        paused_by = CASE WHEN paused_at_ IS NULL THEN NULL WHEN paused_at IS NULL THEN by_
            ELSE paused_by END
    WHERE queue_id = queue_id_;
    IF paused_at_ IS NULL THEN
        PERFORM ring_later();
    END IF;
END $$;

-- A verdict. Whoever enqueues meanwhile shows the queue again by its job.
CREATE FUNCTION hide_queue(name_ text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    queue_id_ int := queue_of(name_);
    jobs bigint;
    totals bigint;
BEGIN
    IF queue_id_ IS NULL THEN
        RETURN :TH_E_NOT_FOUND;
    END IF;
    SELECT coalesce(sum(coalesce(scheduled, 0) + coalesce(ready, 0) + coalesce(blocked, 0)
            + coalesce(running, 0) + coalesce(retry, 0) + coalesce(done, 0) + coalesce(dead, 0)
            + coalesce(cancelled, 0)), 0),
        coalesce(sum(coalesce(done_total, 0) + coalesce(failed_total, 0)), 0)
    INTO jobs, totals FROM counts WHERE queue_id = queue_id_;
    IF jobs <> 0 THEN
        RETURN :TH_E_CONFLICT;
    END IF;
    PERFORM queues_enter(ARRAY[name_]);
    UPDATE queue SET hidden_totals = totals, paused_at = NULL, paused_by = NULL
    WHERE queue_id = queue_id_;
    RETURN :TH_OK;
END $$;

-- Job by job, by one plan for any limit: to plan this anew for each takes longer than to carry it out.
CREATE FUNCTION newest_failures(limit_ bigint)
RETURNS TABLE (id uuid, type text, queue text, state smallint, attempts int, max_attempts int,
    last_error bytea, failed_at bigint, reason smallint)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT v.id, v.type, v.queue, v.state, v.attempts, v.max_attempts, v.last_error,
        v.failed_at, v.reason
    FROM (SELECT d.seq, d.failed_at FROM detail d WHERE d.failed_at IS NOT NULL
            ORDER BY d.failed_at DESC, d.seq DESC LIMIT limit_) f
        CROSS JOIN LATERAL (SELECT * FROM job_view j WHERE j.seq = f.seq OFFSET 0) v
    ORDER BY f.failed_at DESC, f.seq DESC;
END $$;

-- The settings see to it that the index is walked from its beginning, whatever the statistics say.
CREATE FUNCTION count_before(id_ uuid, limit_ bigint) RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    j record;
BEGIN
    SELECT queue_id, priority, due, seq INTO j FROM job WHERE id = id_;
    RETURN (SELECT count(*) FROM (SELECT FROM ready r WHERE r.queue_id = j.queue_id
            AND (r.priority, r.due, r.seq) < (j.priority, j.due, j.seq)
        ORDER BY r.queue_id, r.priority, r.due, r.seq LIMIT limit_) b);
END $$;

-- Why a job's end cannot be seen by this transaction, or NULL.
CREATE FUNCTION blindness(id uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
            format('wait_for() sees no commits of others in a transaction that is %s: call it in READ COMMITTED',
                upper(current_setting('transaction_isolation')))
        WHEN j.xmin = pg_current_xact_id_if_assigned()::xid THEN
            'wait_for() cannot wait for a job of its own transaction: nobody sees it before COMMIT'
    END
    FROM job j WHERE j.id = $1;
$$;
