-- A pool says that it lives; what is due becomes ready; what was kept for long enough goes.

-- ---- heartbeat ----

-- Answers only the leases that have something to tell: a verdict that is not ok, or a wish to
-- cancel. The row with n = 0 says by its verdict whether the pool is registered. A lease that somebody
-- else has locked now is unavailable: it is extended by the next one.
CREATE FUNCTION heartbeat(pool_ text, status_ bytea, now_ bigint, lease_for bigint, queues text[],
    ids uuid[], refs bigint[], tokens bytea[], workers int[], percents int[], texts bytea[],
    outputs bytea[])
RETURNS TABLE (n int, verdict int, cancel boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    extended int[];
    cancelled int[];
    told int[];
    told_seqs bigint[];
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM pool_lock(pool_);
        PERFORM queue_lock(queue_id, false)
        FROM (SELECT queue_id FROM queue WHERE name = ANY (queues) ORDER BY queue_id) q;
    END IF;
    UPDATE pool SET beat_at = now_, status = coalesce(status_, status) WHERE name = pool_;
    RETURN QUERY SELECT 0, CASE WHEN FOUND THEN 0 ELSE 4 END, false;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;

    WITH beat AS MATERIALIZED (
        SELECT g.n::int AS n, j.queue_id, j.seq, g.token, g.worker,
            g.percent IS NOT NULL OR g.output IS NOT NULL AS told
        FROM unnest(ids, refs, tokens, workers, percents, outputs)
            WITH ORDINALITY g (id, ref, token, worker, percent, output, n)
            CROSS JOIN LATERAL (SELECT queue_id, seq FROM job
                WHERE seq = seq_by_ref(g.ref, g.id) OFFSET 0) j
    ), locked AS MATERIALIZED (
        SELECT b.* FROM beat b CROSS JOIN LATERAL (
            SELECT FROM lease
            WHERE queue_id = b.queue_id AND seq = b.seq AND token = b.token AND expires_at > now_
            FOR NO KEY UPDATE SKIP LOCKED) l
    ), moved AS (
        UPDATE lease l SET expires_at = now_ + lease_for, worker = coalesce(k.worker, l.worker),
            traces = l.traces OR k.told
        FROM locked k WHERE l.queue_id = k.queue_id AND l.seq = k.seq
        RETURNING k.n, k.seq, k.told, l.cancel_requested_at AS cancel_at
    )
    SELECT coalesce(array_agg(m.n), '{}'), array_agg(m.n) FILTER (WHERE m.cancel_at IS NOT NULL),
        array_agg(m.n) FILTER (WHERE m.told), array_agg(m.seq) FILTER (WHERE m.told)
    INTO extended, cancelled, told, told_seqs FROM moved m;
    FOR i IN 1..coalesce(cardinality(told), 0) LOOP
        PERFORM write_told(told_seqs[i], percents[told[i]]::smallint, texts[told[i]], NULL,
            outputs[told[i]]);
    END LOOP;
    RETURN QUERY SELECT u, 0, true FROM unnest(cancelled) u;
    IF cardinality(extended) < cardinality(ids) THEN
        RETURN QUERY SELECT g.n::int, coalesce(nullif(lease_check(
            standing_of(seq_by_ref(refs[g.n], ids[g.n])), tokens[g.n], now_), 0), 2), false
        FROM generate_subscripts(ids, 1) g (n) WHERE g.n <> ALL (extended);
    END IF;

    -- Leases may now be shorter than they were: no queue may expect its next expiry later.
    PERFORM FROM queue WHERE name = ANY (queues) AND next_expiry > now_ + lease_for
    ORDER BY queue_id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE queue SET next_expiry = now_ + lease_for
        WHERE name = ANY (queues) AND next_expiry > now_ + lease_for;
    END IF;
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
        RETURNING queue_id
    ), counts AS (
        INSERT INTO counted (queue_id, scheduled, retry, ready)
        SELECT c.queue_id, CASE WHEN state_ = 0 THEN -sum(c.gone) END,
            CASE WHEN state_ = 4 THEN -sum(c.gone) END, sum(c.come)
        FROM (SELECT queue_id, 1 AS gone, 0 AS come FROM due_now
            UNION ALL SELECT queue_id, 0, 1 FROM placed) c
        GROUP BY c.queue_id
    )
    SELECT count(*) INTO moved FROM placed;
    -- What is due and is left, when there was room for it, somebody else has locked: it waits for the
    -- next pass, and hides nobody who comes before that.
    SELECT due INTO next_due FROM waiting WHERE state = state_ AND (moved = limit_ OR due > now_)
    ORDER BY due LIMIT 1;
    IF moved > 0 THEN
        PERFORM ring_later();
    END IF;
END $$;

-- ---- prune ----

-- What was counted since it was last added up becomes a row per queue. Nobody waits for it, and
-- whoever reads meanwhile sees the same sums.
CREATE FUNCTION add_up_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (
        DELETE FROM counted WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM counted LIMIT 100000 FOR UPDATE SKIP LOCKED))
        RETURNING *)
    INSERT INTO counted (queue_id, scheduled, ready, blocked, running, retry, done, dead, cancelled,
        done_total, failed_total)
    SELECT queue_id, nullif(sum(scheduled), 0), nullif(sum(ready), 0), nullif(sum(blocked), 0),
        nullif(sum(running), 0), nullif(sum(retry), 0), nullif(sum(done), 0), nullif(sum(dead), 0),
        nullif(sum(cancelled), 0), nullif(sum(done_total), 0), nullif(sum(failed_total), 0)
    FROM gone GROUP BY queue_id;
END $$;

-- The oldest of one state and queue that ended at or before a moment. What somebody else holds is
-- left to the next time. The settings see to it that the index is walked from its oldest end,
-- whatever the statistics say.
CREATE FUNCTION forget_oldest(state_ int, queue_id_ int, before_ bigint, most bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    places tid[];
    job_places tid[];
    seqs bigint[];
    traced bigint[];
BEGIN
    SELECT array_agg(old.place), array_agg(j.place) INTO places, job_places FROM (
        SELECT e.ctid AS place, e.seq FROM ended e
        WHERE e.state = state_ AND e.queue_id = queue_id_ AND e.ended_at <= before_
        ORDER BY e.ended_at, e.seq LIMIT most FOR UPDATE SKIP LOCKED) old
        CROSS JOIN LATERAL (SELECT ctid AS place FROM job WHERE seq = old.seq OFFSET 0) j;
    IF places IS NULL THEN
        RETURN 0;
    END IF;
    WITH gone AS (DELETE FROM ended WHERE ctid = ANY (places) RETURNING seq, traces)
    SELECT coalesce(array_agg(seq), '{}'), array_agg(seq) FILTER (WHERE traces) INTO seqs, traced
    FROM gone;
    DELETE FROM job WHERE ctid = ANY (job_places);
    IF traced IS NOT NULL THEN
        DELETE FROM detail WHERE seq = ANY (traced);
        DELETE FROM run WHERE seq = ANY (traced);
    END IF;
    PERFORM count_state(queue_id_, state_, -cardinality(seqs));
    RETURN cardinality(seqs);
END $$;

-- Last, because others may do the same and wait for it.
CREATE FUNCTION enter_all_queues() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    names text[];
BEGIN
    SELECT array_agg(name) INTO names FROM (SELECT name FROM queue_born LIMIT 1000) born;
    IF names IS NOT NULL THEN
        PERFORM queues_enter(names);
        DELETE FROM queue_born b WHERE b.ctid = ANY (ARRAY(
            SELECT ctid FROM queue_born WHERE name = ANY (names) FOR UPDATE SKIP LOCKED));
    END IF;
END $$;

-- One at a time: two who counted the same jobs would both remove what is too many. Whoever finds
-- another one at it has nothing to do.
CREATE FUNCTION prune(done_before bigint, dead_before bigint, done_max bigint, now_ bigint,
    limit_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    g record;
    removed bigint := 0;
    gone bigint;
    more bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(lock_class(4), 0) THEN
        RETURN 0;
    END IF;
    PERFORM FROM counted OFFSET (SELECT 1000 + 2 * count(*) FROM queue) LIMIT 1;
    IF FOUND THEN
        PERFORM add_up_counts();
    END IF;
    FOR g IN SELECT s.state, c.queue_id, s.total
        FROM (SELECT queue_id, sum(done) AS done, sum(dead) AS dead, sum(cancelled) AS cancelled
            FROM counted GROUP BY queue_id) c
            CROSS JOIN LATERAL (VALUES (5, c.done), (6, c.dead), (7, c.cancelled)) s (state, total)
        WHERE s.total > 0 ORDER BY s.state, c.queue_id
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
    PERFORM enter_all_queues();
    RETURN removed;
END $$;
