-- Where a job stands, and the place that it is put into.

CREATE TYPE standing AS (
    seq bigint, id uuid, queue_id int, type text, priority smallint, due bigint, run_at bigint,
    timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int, key text,
    update_flags smallint, state smallint, executions bigint, token bytea, expires_at bigint,
    pool text, worker int, started_at bigint, cancel_requested_at bigint, ended_by smallint,
    aside smallint, aside_since bigint, aside_error bytea, -- ready jobs that are aside: see place_add()
    in_batch boolean, -- its lease is not in `lease`: whoever changes it has to unpack it first
    tagged boolean -- it has rows in `tag`
);

-- OFFSET 0 keeps the planner from a look-up of the lease by seq alone, for which the whole index has to
-- be walked: it takes that for as good while statistics say that there are none.
-- One that is nowhere else is looked for in the batches of its queue.
CREATE FUNCTION standing_of(seq_ bigint) RETURNS standing LANGUAGE plpgsql STABLE AS $$
DECLARE
    st standing;
BEGIN
    SELECT j.seq, j.id, j.queue_id, j.type, j.priority, j.due, j.run_at, j.timeout, j.max_attempts,
        j.max_stalls, coalesce(e.attempts, j.attempts), coalesce(e.stalls, j.stalls), j.key,
        j.update_flags,
        CASE
            WHEN l.seq IS NOT NULL THEN :JOB_RUNNING::smallint
            WHEN e.seq IS NOT NULL THEN e.state
            WHEN a.seq IS NOT NULL THEN :JOB_READY::smallint
            WHEN EXISTS (SELECT 1 FROM ready r WHERE r.queue_id = j.queue_id
                    AND r.priority = j.priority AND r.due = j.due AND r.seq = j.seq)
                THEN :JOB_READY::smallint
            ELSE (SELECT w.state FROM waiting w
                WHERE w.state IN (:JOB_SCHEDULED, :JOB_BLOCKED, :JOB_RETRY)
                    AND w.due = j.due AND w.seq = j.seq)
        END,
        coalesce(l.execution, e.executions, j.executions), coalesce(l.token, e.token), l.expires_at,
        coalesce(l.pool, e.pool), coalesce(l.worker, e.worker),
        coalesce(l.started_at, e.started_at),
        coalesce(l.cancel_requested_at, e.cancel_requested_at), e.ended_by, a.why, a.since, a.error,
        false, j.tags IS NOT NULL
    INTO st FROM job j
        LEFT JOIN LATERAL (SELECT * FROM lease
            WHERE queue_id = j.queue_id AND seq = j.seq OFFSET 0) l ON true
        LEFT JOIN ended e ON e.seq = j.seq
        LEFT JOIN aside a ON a.seq = j.seq
    WHERE j.seq = seq_;
    IF st.seq IS NOT NULL AND st.state IS NULL THEN
        SELECT :JOB_RUNNING, 1, b.batch || int4send(b.first + m.n - 1), b.expires_at, b.pool,
            b.started_at, (SELECT asked_at FROM to_cancel WHERE seq = seq_), true
        INTO st.state, st.executions, st.token, st.expires_at, st.pool, st.started_at,
            st.cancel_requested_at, st.in_batch
        FROM batch b CROSS JOIN LATERAL (SELECT array_position(b.seqs, seq_) AS n OFFSET 0) m
        WHERE b.queue_id = st.queue_id AND seq_ BETWEEN b.lowest AND b.highest
            AND get_bit(b.open, m.n - 1) = 1;
    END IF;
    RETURN st;
END $$;

CREATE FUNCTION seq_of(id_ uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT seq FROM job WHERE id = id_;
$$;

-- By the ref of a reserved job, when it still is that job's; otherwise by id.
CREATE FUNCTION seq_by_ref(ref_ bigint, id_ uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT seq FROM job WHERE seq = ref_ AND id = id_),
        (SELECT seq FROM job WHERE id = id_));
$$;

-- NULL when there is no such job.
CREATE FUNCTION state_of(id_ uuid) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN state FROM job_view WHERE id = id_;
END $$;

CREATE FUNCTION state_when_due(due_ bigint, now_ bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN due_ > now_ THEN :JOB_SCHEDULED ELSE :JOB_READY END::smallint;
$$;

-- So many jobs more, or fewer, are in a state: in the transaction that puts them there.
CREATE FUNCTION count_state(queue_id_ int, state_ int, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO counted (queue_id, scheduled, ready, blocked, running, retry, done, dead, cancelled)
    VALUES (queue_id_,
        CASE WHEN state_ = :JOB_SCHEDULED THEN change END,
        CASE WHEN state_ = :JOB_READY THEN change END,
        CASE WHEN state_ = :JOB_BLOCKED THEN change END,
        CASE WHEN state_ = :JOB_RUNNING THEN change END,
        CASE WHEN state_ = :JOB_RETRY THEN change END,
        CASE WHEN state_ = :JOB_DONE THEN change END,
        CASE WHEN state_ = :JOB_DEAD THEN change END,
        CASE WHEN state_ = :JOB_CANCELLED THEN change END);
END $$;

-- So many more of the ready ones are aside for this reason, or fewer.
CREATE FUNCTION count_aside(queue_id_ int, why_ int, change bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO counted (queue_id, no_handler, cannot_start)
    VALUES (queue_id_, CASE WHEN why_ = :ASIDE_NO_HANDLER THEN change END,
        CASE WHEN why_ = :ASIDE_CANNOT_START THEN change END);
$$;

-- The place that the job's row, st.state and st.aside say.
CREATE FUNCTION place_add(st standing) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF st.aside IS NOT NULL THEN
        INSERT INTO aside (seq, queue_id, why, type, priority, due, since, error)
        VALUES (st.seq, st.queue_id, st.aside, st.type, st.priority, st.due, st.aside_since,
            st.aside_error);
        PERFORM count_aside(st.queue_id, st.aside, 1);
    ELSIF st.state = :JOB_READY THEN
        PERFORM ring_later();
        INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
        VALUES (st.queue_id, st.priority, st.due, st.seq, st.key IS NOT NULL,
            st.key IS NOT NULL OR st.tagged OR st.executions > 0 OR st.stalls > 0
                OR st.attempts > 0);
    ELSE
        INSERT INTO waiting (state, due, seq, queue_id)
        VALUES (st.state, st.due, st.seq, st.queue_id);
    END IF;
    PERFORM count_state(st.queue_id, st.state, 1);
END $$;

CREATE FUNCTION place_remove(st standing) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF st.aside IS NOT NULL THEN
        DELETE FROM aside WHERE seq = st.seq;
        IF FOUND THEN
            PERFORM count_aside(st.queue_id, st.aside, -1);
            PERFORM count_state(st.queue_id, :JOB_READY, -1);
        END IF;
        RETURN;
    ELSIF st.state = :JOB_READY THEN
        DELETE FROM ready WHERE queue_id = st.queue_id AND priority = st.priority
            AND due = st.due AND seq = st.seq;
    ELSE
        DELETE FROM waiting WHERE state = st.state AND due = st.due AND seq = st.seq;
    END IF;
    IF FOUND THEN
        PERFORM count_state(st.queue_id, st.state, -1);
    END IF;
END $$;
