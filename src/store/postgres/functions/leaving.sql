-- A job leaves where it stands: for good, or back to waiting.

CREATE FUNCTION end_write(st standing, state_ int, now_ bigint, ended_by_ int, merged_into_ uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls, token,
        ended_by, pool, worker, started_at, cancel_requested_at, merged_into)
    VALUES (st.seq, state_, true, st.queue_id, now_, st.executions, st.attempts, st.stalls, st.token,
        ended_by_, st.pool, st.worker, st.started_at, st.cancel_requested_at, merged_into_);
    PERFORM count_state(st.queue_id, state_, 1);
END $$;

CREATE FUNCTION end_remove(seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone ended;
BEGIN
    DELETE FROM ended WHERE seq = seq_ RETURNING queue_id, state INTO gone.queue_id, gone.state;
    IF FOUND THEN
        PERFORM count_state(gone.queue_id, gone.state, -1);
    END IF;
END $$;

-- Everything the job left in any table but its place, its lease and its idempotency record.
CREATE FUNCTION forget(seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM end_remove(seq_);
    PERFORM tags_leave(ARRAY[seq_]);
    DELETE FROM detail WHERE seq = seq_;
    DELETE FROM run WHERE seq = seq_;
    DELETE FROM job WHERE seq = seq_;
END $$;

-- A lease of the queue has ended: whoever found it full is to be woken.
CREATE FUNCTION drop_lease(queue_id_ int, seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lease WHERE queue_id = queue_id_ AND seq = seq_;
    IF FOUND THEN
        PERFORM count_state(queue_id_, :JOB_RUNNING, -1);
    END IF;
END $$;

-- The job of this standing runs no more and does not return: its blocked twin waits in line now.
CREATE FUNCTION twins_running_ended(st standing, now_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
    blocked standing;
BEGIN
    IF st.key IS NULL THEN
        RETURN;
    END IF;
    twins := twins_lock(st.queue_id, st.key);
    twins.running := NULL;
    PERFORM twins_store(twins);
    IF twins.waiting IS NULL THEN
        RETURN;
    END IF;
    blocked := standing_of(twins.waiting);
    IF blocked.seq IS NOT NULL THEN
        PERFORM place_remove(blocked);
        blocked.state := state_when_due(blocked.due, now_);
        PERFORM place_add(blocked);
    END IF;
END $$;

-- For good. st has the counts as they shall be.
CREATE FUNCTION leave_ended(st standing, state_ int, now_ bigint, ended_by_ int)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM drop_lease(st.queue_id, st.seq);
    PERFORM end_write(st, state_, now_, ended_by_, NULL);
    PERFORM twins_running_ended(st, now_);
END $$;

-- Back to waiting in state_, with place, run_at and counts as st says. A blocked twin is merged into
-- it and ends as cancelled.
CREATE FUNCTION leave_returned(st standing, state_ smallint, now_ bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
    blocked standing;
    moved boolean := false;
BEGIN
    PERFORM drop_lease(st.queue_id, st.seq);
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        IF twins.waiting IS NOT NULL THEN
            blocked := standing_of(twins.waiting);
        END IF;
        IF blocked.seq IS NOT NULL THEN
            moved := merge_moves(st.due, blocked.due, blocked.update_flags);
            IF blocked.update_flags & :KEYED_PAYLOAD <> 0 THEN
                PERFORM tags_leave(ARRAY[st.seq]);
                UPDATE job SET encoding = other.encoding, payload = other.payload,
                    headers = other.headers, tags = other.tags
                FROM job other WHERE job.seq = st.seq AND other.seq = blocked.seq;
                PERFORM tags_enter(st.seq);
                st.tagged := blocked.tagged;
            END IF;
            st := merge(st, blocked, blocked.update_flags);
            PERFORM write_merge(st, blocked.update_flags);
            PERFORM place_remove(blocked);
            PERFORM end_write(blocked, :JOB_CANCELLED, now_, NULL, st.id);
        END IF;
        twins.waiting := st.seq;
        twins.running := NULL;
        PERFORM twins_store(twins);
    END IF;
    UPDATE job SET due = st.due, run_at = st.run_at, attempts = st.attempts, stalls = st.stalls,
        executions = st.executions
    WHERE seq = st.seq;
    st.state := state_;
    IF moved THEN
        st.state := state_when_due(st.due, now_);
        st.aside := NULL;
    END IF;
    PERFORM place_add(st);
END $$;

-- Adds to the job's newest executions, of which only so many are kept.
CREATE FUNCTION record_run(st standing, r run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run (seq, execution, outcome, pool, worker, started_at, wall, user_time,
        system_time, max_rss_kb, exit_code, signal, error)
    VALUES (st.seq, st.executions, r.outcome, st.pool, r.worker, r.started_at, r.wall, r.user_time,
        r.system_time, r.max_rss_kb, r.exit_code, r.signal, r.error)
    ON CONFLICT (seq, execution) DO NOTHING;
    IF st.executions > :JOB_RUNS_KEPT THEN
        DELETE FROM run WHERE seq = st.seq AND execution <= st.executions - :JOB_RUNS_KEPT;
    END IF;
END $$;
