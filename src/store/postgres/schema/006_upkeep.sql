-- A pool says that it lives; what is due becomes ready; what was kept for long enough goes.

-- ---- heartbeat ----

-- Answers only the leases that have something to tell: a verdict that is not ok, or a wish to
-- cancel. The row with n = 0 says by its verdict whether the pool is registered.
CREATE FUNCTION heartbeat(pool_ text, status_ bytea, now_ bigint, lease_for bigint, queues text[],
    ids uuid[], refs bigint[], tokens bytea[], workers int[], percents int[], texts bytea[],
    outputs bytea[])
RETURNS TABLE (n int, verdict int, cancel boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    beat record;
    told boolean;
    cancel_at bigint;
BEGIN
    UPDATE pool SET beat_at = now_, status = coalesce(status_, status) WHERE name = pool_;
    RETURN QUERY SELECT 0, CASE WHEN FOUND THEN 0 ELSE 4 END, false;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock('pool'::regclass::oid::int, hashtext(pool_));
    PERFORM queue_lock(queue_id, false)
    FROM (SELECT queue_id FROM queue WHERE name = ANY (queues) ORDER BY queue_id) q;

    FOR beat IN
        SELECT g.n::int, seq_by_ref(g.ref, g.id) AS seq, g.token, g.worker, g.percent, g.progress,
            g.output
        FROM unnest(ids, refs, tokens, workers, percents, texts, outputs)
            WITH ORDINALITY g (id, ref, token, worker, percent, progress, output, n)
        ORDER BY 2
    LOOP
        told := beat.percent IS NOT NULL OR beat.output IS NOT NULL;
        UPDATE lease l SET expires_at = now_ + lease_for, worker = coalesce(beat.worker, l.worker),
            traces = l.traces OR told
        WHERE l.queue_id = (SELECT j.queue_id FROM job j WHERE j.seq = beat.seq)
            AND l.seq = beat.seq AND l.token = beat.token AND l.expires_at > now_
        RETURNING l.cancel_requested_at INTO cancel_at;
        IF NOT FOUND THEN
            RETURN QUERY SELECT beat.n,
                coalesce(nullif(lease_check(standing_of(beat.seq), beat.token, now_), 0), 7), false;
            CONTINUE;
        END IF;
        IF told THEN
            PERFORM write_told(beat.seq, beat.percent::smallint, beat.progress, NULL, beat.output);
        END IF;
        IF cancel_at IS NOT NULL THEN
            RETURN QUERY SELECT beat.n, 0, true;
        END IF;
    END LOOP;

    -- Leases may now be shorter than they were: no queue may expect its next expiry later.
    UPDATE queue SET next_expiry = now_ + lease_for
    WHERE name = ANY (queues) AND next_expiry > now_ + lease_for;
END $$;

-- ---- promote ----

CREATE FUNCTION promote(state_ int, now_ bigint, limit_ bigint, OUT moved bigint, OUT next_due bigint)
LANGUAGE plpgsql AS $$
BEGIN
    WITH due_now AS (
        DELETE FROM waiting w WHERE w.ctid = ANY (ARRAY(
            SELECT ctid FROM waiting WHERE state = state_ AND due <= now_
            ORDER BY due, seq LIMIT limit_ FOR UPDATE SKIP LOCKED))
        RETURNING w.queue_id, w.due, w.seq
    ), placed AS (
        INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
        SELECT d.queue_id, j.priority, d.due, d.seq, j.key IS NOT NULL,
            j.key IS NOT NULL OR j.executions > 0 OR j.stalls > 0 OR j.attempts > 0
        FROM due_now d CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = d.seq OFFSET 0) j
        RETURNING 1
    )
    SELECT count(*) INTO moved FROM placed;
    SELECT due INTO next_due FROM waiting WHERE state = state_ ORDER BY due LIMIT 1;
    IF moved > 0 THEN
        PERFORM ring_later();
    END IF;
END $$;

-- ---- prune ----

-- The oldest of one state and queue that ended at or before a moment.
CREATE FUNCTION forget_oldest(state_ int, queue_id_ int, before_ bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    seqs bigint[];
BEGIN
    SELECT array_agg(seq) INTO seqs FROM (
        SELECT seq FROM ended WHERE state = state_ AND queue_id = queue_id_ AND ended_at <= before_
        ORDER BY ended_at, seq LIMIT most FOR UPDATE SKIP LOCKED) old;
    IF seqs IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM ended WHERE seq = ANY (seqs);
    DELETE FROM detail WHERE seq = ANY (seqs);
    DELETE FROM run WHERE seq = ANY (seqs);
    DELETE FROM job WHERE seq = ANY (seqs);
    RETURN cardinality(seqs);
END $$;

CREATE FUNCTION add_up_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM counted OFFSET 1000 LIMIT 1;
    IF FOUND THEN
        WITH gone AS (
            DELETE FROM counted WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM counted LIMIT 100000 FOR UPDATE SKIP LOCKED))
            RETURNING queue_id, done, failed)
        INSERT INTO counted SELECT queue_id, sum(done), sum(failed) FROM gone GROUP BY queue_id;
    END IF;
END $$;

CREATE FUNCTION prune(done_before bigint, dead_before bigint, done_max bigint, now_ bigint,
    limit_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    g record;
    removed bigint := 0;
    gone bigint;
    more bigint;
BEGIN
    FOR g IN SELECT state, queue_id, count(*) AS total FROM ended GROUP BY state, queue_id
        ORDER BY state, queue_id
    LOOP
        EXIT WHEN removed >= limit_;
        gone := forget_oldest(g.state, g.queue_id,
            CASE WHEN g.state = 6 THEN dead_before ELSE done_before END, limit_ - removed);
        removed := removed + gone;
        more := g.total - gone - done_max;
        IF g.state <> 6 AND done_max IS NOT NULL AND more > 0 AND removed < limit_ THEN
            removed := removed + forget_oldest(g.state, g.queue_id, 9223372036854775807,
                least(more, limit_ - removed));
        END IF;
    END LOOP;
    IF removed < limit_ THEN
        DELETE FROM idempotency i WHERE i.ctid = ANY (ARRAY(
            SELECT ctid FROM idempotency WHERE expires_at <= now_ ORDER BY expires_at
            LIMIT limit_ - removed FOR UPDATE SKIP LOCKED));
        GET DIAGNOSTICS gone = ROW_COUNT;
        removed := removed + gone;
    END IF;
    PERFORM add_up_counts();
    RETURN removed;
END $$;
