-- What became of the jobs that were handed out.

CREATE TYPE settlement_spec AS (
    n int, job uuid, ref bigint, token bytea, kind smallint, counts boolean, forget boolean,
    run_at bigint, error bytea, reason smallint, result bytea, output bytea,
    progress_percent smallint, progress_text bytea, has_run boolean,
    worker int, started_at bigint, wall bigint, user_time bigint, system_time bigint,
    max_rss_kb bigint, exit_code int, signal int, run_error bytea, on_dead job_spec,
    aside smallint, aside_since bigint
);

-- As lease_check() of job/lease.c says.
CREATE FUNCTION lease_check(st standing, token_ bytea, now_ bigint) RETURNS int
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN st IS NULL OR st.seq IS NULL THEN :TH_E_NOT_FOUND
        WHEN st.state IS DISTINCT FROM :JOB_RUNNING THEN :TH_E_NOT_RUNNING
        WHEN st.expires_at <= now_ THEN :TH_E_LEASE_EXPIRED
        WHEN st.token <> token_ THEN :TH_E_LEASE_MISMATCH
        ELSE :TH_OK
    END;
$$;

-- Leases that end by this moment are over. Who follows our clock is asked to agree with it: one who has
-- not seen yet that it was set back would take what somebody else has just been given.
CREATE FUNCTION over_at(now_ bigint, clocked boolean) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN clocked
        THEN least(now_, (extract(epoch FROM clock_timestamp()) * :USEC_PER_SEC)::bigint)
        ELSE now_ END;
$$;

CREATE FUNCTION write_told(seq_ bigint, percent smallint, text_ bytea, result_ bytea, output_ bytea)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO detail AS d (seq, progress_percent, progress_text, result, output)
    VALUES (seq_, percent, text_, result_, output_)
    ON CONFLICT (seq) DO UPDATE SET
        progress_text = CASE WHEN excluded.progress_percent IS NULL THEN d.progress_text
            ELSE excluded.progress_text END,
        progress_percent = coalesce(excluded.progress_percent, d.progress_percent),
        result = coalesce(excluded.result, d.result), output = coalesce(excluded.output, d.output);
$$;

-- What is kept of the execution itself. The last run of a done job lies in its `ended` row.
CREATE FUNCTION write_traces(st standing, s settlement_spec, outcome_ int, now_ bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r run;
BEGIN
    IF s.kind IN (:SETTLE_RETRY, :SETTLE_FAIL) THEN
        INSERT INTO detail (seq, last_error, failed_at, reason, exit_code, signal)
        VALUES (st.seq, s.error, now_, s.reason, s.exit_code, s.signal)
        ON CONFLICT (seq) DO UPDATE SET last_error = excluded.last_error,
            failed_at = excluded.failed_at, reason = excluded.reason,
            exit_code = excluded.exit_code, signal = excluded.signal;
    END IF;
    IF s.result IS NOT NULL OR s.output IS NOT NULL OR s.progress_percent IS NOT NULL THEN
        PERFORM write_told(st.seq, s.progress_percent, s.progress_text, s.result, s.output);
    END IF;
    IF s.has_run AND s.kind <> :SETTLE_ACK THEN
        r.outcome := outcome_;
        r.worker := s.worker;
        r.started_at := s.started_at;
        r.wall := s.wall;
        r.user_time := s.user_time;
        r.system_time := s.system_time;
        r.max_rss_kb := s.max_rss_kb;
        r.exit_code := s.exit_code;
        r.signal := s.signal;
        r.error := s.run_error;
        PERFORM record_run(st, r);
    END IF;
END $$;

-- Of enum run_outcome, for a kind of settlement that is no end as cancelled.
CREATE FUNCTION outcome_of(kind int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN kind = :SETTLE_ASIDE THEN :RUN_RELEASED ELSE kind END;
$$;

CREATE FUNCTION settle_end(st standing, s settlement_spec, state_ int, now_ bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM leave_ended(st, state_, now_, s.kind);
    IF state_ = :JOB_DONE AND s.forget THEN
        PERFORM forget(st.seq);
        RETURN;
    END IF;
    IF state_ = :JOB_DONE AND s.has_run THEN
        UPDATE ended SET wall = s.wall, user_time = s.user_time, system_time = s.system_time,
            max_rss_kb = s.max_rss_kb, exit_code = s.exit_code
        WHERE seq = st.seq;
    END IF;
    PERFORM write_traces(st, s,
        CASE WHEN state_ = :JOB_CANCELLED THEN :RUN_CANCELLED ELSE s.kind END, now_);
END $$;

CREATE FUNCTION settle_return(st standing, s settlement_spec, later smallint, now_ bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    state_ smallint := :JOB_READY;
BEGIN
    PERFORM write_traces(st, s, outcome_of(s.kind), now_);
    IF s.kind = :SETTLE_ASIDE THEN
        st.aside := s.aside;
        st.aside_since := s.aside_since;
        st.aside_error := s.error;
    ELSIF s.kind <> :SETTLE_RELEASE THEN
        st.run_at := s.run_at;
        st.due := coalesce(s.run_at, now_);
        IF st.due > now_ THEN
            state_ := later;
        END IF;
    END IF;
    PERFORM leave_returned(st, state_, now_);
END $$;

-- The job that is told of another one's death. It waits for nobody; false when it would have to, which
-- only a key or a record can bring.
CREATE FUNCTION enqueue_at_once(spec job_spec, now_ bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF spec.key IS NULL AND spec.idempotency_key IS NULL THEN
        PERFORM enqueue_one(spec, now_);
        RETURN true;
    END IF;
    BEGIN
        PERFORM set_config('lock_timeout', '10ms', true);
        PERFORM enqueue_one(spec, now_);
        PERFORM set_config('lock_timeout', '0', true);
        RETURN true;
    EXCEPTION WHEN lock_not_available THEN
        RETURN false;
    END;
END $$;

-- One settlement; the answer is its verdict. Nothing is changed, and nothing waited for, when somebody
-- else has the job or its key now: that is unavailable, and is tried again.
CREATE FUNCTION settle_one(s settlement_spec, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    seq_ bigint := seq_by_ref(s.ref, s.job);
    st standing := standing_of(seq_);
    -- What was never started is given back by its token alone, also after the end of its lease.
    as_of bigint := CASE WHEN s.kind IN (:SETTLE_RELEASE, :SETTLE_ASIDE) AND NOT s.has_run THEN 0
        ELSE now_ END;
    verdict int;
BEGIN
    IF st.state >= :JOB_DONE AND st.ended_by = s.kind AND st.token = s.token THEN
        RETURN :TH_OK;
    END IF;
    verdict := lease_check(st, s.token, as_of);
    IF verdict <> :TH_OK THEN
        RETURN verdict;
    END IF;
    IF NOT seize(st, false) THEN
        RETURN :TH_E_UNAVAILABLE;
    END IF;
    st := standing_of(seq_);
    verdict := lease_check(st, s.token, as_of);
    IF verdict <> :TH_OK THEN
        RETURN verdict;
    END IF;
    IF s.kind = :SETTLE_FAIL AND st.cancel_requested_at IS NULL AND (s.on_dead).id IS NOT NULL
        AND NOT enqueue_at_once(s.on_dead, now_) THEN
        RETURN :TH_E_UNAVAILABLE;
    END IF;
    IF s.counts THEN
        st.attempts := st.attempts + 1;
    END IF;
    IF s.has_run THEN
        st.worker := coalesce(s.worker, st.worker);
        st.started_at := coalesce(s.started_at, st.started_at);
    END IF;
    IF s.kind = :SETTLE_ACK OR s.counts THEN
        INSERT INTO counted (queue_id, done_total, failed_total)
        VALUES (st.queue_id, (s.kind = :SETTLE_ACK)::int, s.counts::int);
    END IF;
    IF st.cancel_requested_at IS NOT NULL AND s.kind <> :SETTLE_ACK THEN
        s.reason := NULL;
        PERFORM settle_end(st, s, :JOB_CANCELLED, now_);
    ELSIF s.kind = :SETTLE_ACK THEN
        PERFORM settle_end(st, s, :JOB_DONE, now_);
    ELSIF s.kind = :SETTLE_FAIL THEN
        PERFORM settle_end(st, s, :JOB_DEAD, now_);
    ELSIF s.kind = :SETTLE_CANCEL THEN
        PERFORM settle_end(st, s, :JOB_CANCELLED, now_);
    ELSE
        PERFORM settle_return(st, s,
            CASE WHEN s.kind = :SETTLE_RETRY THEN :JOB_RETRY ELSE :JOB_SCHEDULED END::smallint, now_);
    END IF;
    RETURN :TH_OK;
END $$;

-- ---- many at once ----

-- A settlement whose lease we have, and what the job becomes: its state, place and counts.
CREATE TYPE held_settlement AS (
    s settlement_spec, seq bigint, queue_id int, state smallint, priority smallint, due bigint,
    run_at bigint, attempts int, stalls int, executions bigint, pool text, worker int,
    started_at bigint
);

-- Of these settlements those that need only their own lease: no key, no wish to cancel, nobody who
-- is told of a death. Each job once. What somebody else has locked is left out.
CREATE FUNCTION seize_many(specs settlement_spec[], now_ bigint) RETURNS held_settlement[]
LANGUAGE sql AS $$
    SELECT array_agg(ROW(u.s, j.seq, j.queue_id, CASE
            WHEN (u.s).kind = :SETTLE_ACK THEN :JOB_DONE
            WHEN (u.s).kind = :SETTLE_FAIL THEN :JOB_DEAD
            WHEN (u.s).kind = :SETTLE_CANCEL THEN :JOB_CANCELLED
            WHEN (u.s).kind IN (:SETTLE_RELEASE, :SETTLE_ASIDE)
                OR coalesce((u.s).run_at, now_) <= now_ THEN :JOB_READY
            WHEN (u.s).kind = :SETTLE_RETRY THEN :JOB_RETRY ELSE :JOB_SCHEDULED END,
        j.priority, CASE WHEN (u.s).kind IN (:SETTLE_RELEASE, :SETTLE_ASIDE) THEN j.due
            ELSE coalesce((u.s).run_at, now_) END,
        CASE WHEN (u.s).kind IN (:SETTLE_RELEASE, :SETTLE_ASIDE) THEN j.run_at
            ELSE (u.s).run_at END,
        j.attempts + (u.s).counts::int, j.stalls, l.execution, l.pool,
        CASE WHEN (u.s).has_run THEN coalesce((u.s).worker, l.worker) ELSE l.worker END,
        CASE WHEN (u.s).has_run THEN coalesce((u.s).started_at, l.started_at)
            ELSE l.started_at END)::held_settlement)
    FROM (SELECT DISTINCT ON (g.ref) g AS s, g.ref FROM unnest(specs) g
            WHERE g.ref <> 0 AND (g.on_dead).id IS NULL ORDER BY g.ref, g.n) u
        CROSS JOIN LATERAL (SELECT * FROM job
            WHERE seq = u.ref AND id = (u.s).job AND key IS NULL OFFSET 0) j
        CROSS JOIN LATERAL (SELECT * FROM lease WHERE queue_id = j.queue_id AND seq = j.seq
            AND token = (u.s).token AND expires_at > now_ AND cancel_requested_at IS NULL
            FOR UPDATE SKIP LOCKED) l;
$$;

-- What is kept of the executions, as write_traces() does it for one.
CREATE FUNCTION write_many_traces(held held_settlement[], now_ bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO detail AS d (seq, last_error, failed_at, reason, exit_code, signal)
    SELECT h.seq, (h.s).error, now_, (h.s).reason, (h.s).exit_code, (h.s).signal
    FROM unnest(held) h WHERE (h.s).kind IN (:SETTLE_RETRY, :SETTLE_FAIL)
    ON CONFLICT (seq) DO UPDATE SET last_error = excluded.last_error,
        failed_at = excluded.failed_at, reason = excluded.reason,
        exit_code = excluded.exit_code, signal = excluded.signal;
    INSERT INTO detail AS d (seq, progress_percent, progress_text, result, output)
    SELECT h.seq, (h.s).progress_percent, (h.s).progress_text, (h.s).result, (h.s).output
    FROM unnest(held) h WHERE (h.s).result IS NOT NULL OR (h.s).output IS NOT NULL
        OR (h.s).progress_percent IS NOT NULL
    ON CONFLICT (seq) DO UPDATE SET
        progress_text = CASE WHEN excluded.progress_percent IS NULL THEN d.progress_text
            ELSE excluded.progress_text END,
        progress_percent = coalesce(excluded.progress_percent, d.progress_percent),
        result = coalesce(excluded.result, d.result), output = coalesce(excluded.output, d.output);
    INSERT INTO run (seq, execution, outcome, pool, worker, started_at, wall, user_time,
        system_time, max_rss_kb, exit_code, signal, error)
    SELECT h.seq, h.executions, outcome_of((h.s).kind), h.pool, (h.s).worker, (h.s).started_at, (h.s).wall,
        (h.s).user_time, (h.s).system_time, (h.s).max_rss_kb, (h.s).exit_code, (h.s).signal,
        (h.s).run_error
    FROM unnest(held) h WHERE (h.s).has_run AND (h.s).kind <> :SETTLE_ACK
    ON CONFLICT (seq, execution) DO NOTHING;
    DELETE FROM run r USING unnest(held) h
    WHERE h.executions > :JOB_RUNS_KEPT AND r.seq = h.seq
        AND r.execution <= h.executions - :JOB_RUNS_KEPT;
$$;

CREATE FUNCTION count_many(held held_settlement[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO counted (queue_id, running, scheduled, ready, retry, done, dead, cancelled,
        no_handler, cannot_start, done_total, failed_total)
    SELECT h.queue_id, -count(*), nullif(sum((h.state = :JOB_SCHEDULED)::int), 0),
        nullif(sum((h.state = :JOB_READY)::int), 0), nullif(sum((h.state = :JOB_RETRY)::int), 0),
        nullif(sum((h.state = :JOB_DONE AND NOT (h.s).forget)::int), 0),
        nullif(sum((h.state = :JOB_DEAD)::int), 0), nullif(sum((h.state = :JOB_CANCELLED)::int), 0),
        nullif(sum(((h.s).kind = :SETTLE_ASIDE AND (h.s).aside = :ASIDE_NO_HANDLER)::int), 0),
        nullif(sum(((h.s).kind = :SETTLE_ASIDE AND (h.s).aside = :ASIDE_CANNOT_START)::int), 0),
        nullif(sum((h.state = :JOB_DONE)::int), 0), nullif(sum((h.s).counts::int), 0)
    FROM unnest(held) h GROUP BY h.queue_id;
$$;

-- Answers the numbers of those that were settled; the others have to go one by one.
CREATE FUNCTION settle_many(specs settlement_spec[], now_ bigint) RETURNS int[]
LANGUAGE plpgsql AS $$
DECLARE
    all_ held_settlement[] := seize_many(specs, now_);
    held held_settlement[];
    forgotten bigint[];
BEGIN
    IF all_ IS NULL THEN
        RETURN '{}';
    END IF;
    DELETE FROM lease l USING unnest(all_) h WHERE l.queue_id = h.queue_id AND l.seq = h.seq;
    SELECT array_agg(h) FILTER (WHERE NOT (h.state = :JOB_DONE AND (h.s).forget)),
        array_agg(h.seq) FILTER (WHERE h.state = :JOB_DONE AND (h.s).forget)
    INTO held, forgotten FROM unnest(all_) h;
    IF forgotten IS NOT NULL THEN
        PERFORM tags_leave(forgotten);
        DELETE FROM detail WHERE seq = ANY (forgotten);
        DELETE FROM run WHERE seq = ANY (forgotten);
        DELETE FROM job WHERE seq = ANY (forgotten);
    END IF;
    PERFORM write_many_traces(held, now_);
    INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls, token,
        ended_by, pool, worker, started_at, wall, user_time, system_time, max_rss_kb, exit_code)
    SELECT h.seq, h.state, true, h.queue_id, now_, h.executions, h.attempts, h.stalls, (h.s).token,
        (h.s).kind, h.pool, h.worker, h.started_at, e.wall, e.user_time, e.system_time,
        e.max_rss_kb, e.exit_code
    FROM unnest(held) h LEFT JOIN LATERAL (SELECT (h.s).wall, (h.s).user_time, (h.s).system_time,
        (h.s).max_rss_kb, (h.s).exit_code WHERE h.state = :JOB_DONE AND (h.s).has_run) e ON true
    WHERE h.state >= :JOB_DONE;
    UPDATE job SET due = h.due, run_at = h.run_at, attempts = h.attempts, stalls = h.stalls,
        executions = h.executions
    FROM unnest(held) h WHERE h.state < :JOB_DONE AND job.seq = h.seq;
    INSERT INTO waiting (state, due, seq, queue_id)
    SELECT h.state, h.due, h.seq, h.queue_id FROM unnest(held) h WHERE h.state IN (:JOB_SCHEDULED, :JOB_RETRY);
    INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
    SELECT h.queue_id, h.priority, h.due, h.seq, false, true FROM unnest(held) h
    WHERE h.state = :JOB_READY AND (h.s).kind <> :SETTLE_ASIDE;
    IF FOUND THEN
        PERFORM ring_later();
    END IF;
    INSERT INTO aside (seq, queue_id, why, type, priority, due, since, error)
    SELECT h.seq, h.queue_id, (h.s).aside, j.type, h.priority, h.due, (h.s).aside_since, (h.s).error
    FROM unnest(held) h CROSS JOIN LATERAL (SELECT type FROM job WHERE seq = h.seq OFFSET 0) j
    WHERE (h.s).kind = :SETTLE_ASIDE;
    PERFORM count_many(all_);
    RETURN ARRAY(SELECT (h.s).n FROM unnest(all_) h);
END $$;
