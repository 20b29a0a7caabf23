-- What is due becomes ready; what was kept for long enough goes.

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
            j.key IS NOT NULL OR j.tags IS NOT NULL OR j.executions > 0 OR j.stalls > 0
                OR j.attempts > 0
        FROM due_now d CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = d.seq OFFSET 0) j
        RETURNING queue_id
    ), counts AS (
        INSERT INTO counted (queue_id, scheduled, retry, ready)
        SELECT c.queue_id, CASE WHEN state_ = :JOB_SCHEDULED THEN -sum(c.gone) END,
            CASE WHEN state_ = :JOB_RETRY THEN -sum(c.gone) END, sum(c.come)
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

-- ---- retention ----

-- What was counted since goes into the tally. Whoever reads meanwhile sees the same sums, and nobody waits
-- for it but another one that adds up: they take the queues in the same order.
CREATE FUNCTION add_up_counts() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH gone AS (
        DELETE FROM counted WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM counted LIMIT 100000 FOR UPDATE SKIP LOCKED))
        RETURNING *)
    INSERT INTO tally AS t (queue_id, scheduled, ready, blocked, running, retry, done, dead, cancelled,
        no_handler, cannot_start, done_total, failed_total)
    SELECT queue_id, coalesce(sum(scheduled), 0), coalesce(sum(ready), 0), coalesce(sum(blocked), 0),
        coalesce(sum(running), 0), coalesce(sum(retry), 0), coalesce(sum(done), 0),
        coalesce(sum(dead), 0), coalesce(sum(cancelled), 0), coalesce(sum(no_handler), 0),
        coalesce(sum(cannot_start), 0), coalesce(sum(done_total), 0),
        coalesce(sum(failed_total), 0)
    FROM gone GROUP BY queue_id ORDER BY queue_id
    ON CONFLICT (queue_id) DO UPDATE SET
        scheduled = t.scheduled + excluded.scheduled, ready = t.ready + excluded.ready,
        blocked = t.blocked + excluded.blocked, running = t.running + excluded.running,
        retry = t.retry + excluded.retry, done = t.done + excluded.done,
        dead = t.dead + excluded.dead, cancelled = t.cancelled + excluded.cancelled,
        no_handler = t.no_handler + excluded.no_handler,
        cannot_start = t.cannot_start + excluded.cannot_start,
        done_total = t.done_total + excluded.done_total,
        failed_total = t.failed_total + excluded.failed_total;
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
    IF traced IS NOT NULL THEN
        PERFORM tags_leave(traced);
        DELETE FROM detail WHERE seq = ANY (traced);
        DELETE FROM run WHERE seq = ANY (traced);
    END IF;
    DELETE FROM job WHERE ctid = ANY (job_places);
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
    IF NOT pg_try_advisory_xact_lock(lock_class(:LOCK_RETENTION), 0) THEN
        RETURN 0;
    END IF;
    PERFORM FROM counted OFFSET 1000 LIMIT 1;
    IF FOUND THEN
        PERFORM add_up_counts();
    END IF;
    FOR g IN SELECT s.state, c.queue_id, s.total
        FROM (SELECT queue_id, sum(done) AS done, sum(dead) AS dead, sum(cancelled) AS cancelled
            FROM counts GROUP BY queue_id) c
            CROSS JOIN LATERAL (VALUES (:JOB_DONE, c.done), (:JOB_DEAD, c.dead),
                (:JOB_CANCELLED, c.cancelled)) s (state, total)
        WHERE s.total > 0 ORDER BY s.state, c.queue_id
    LOOP
        EXIT WHEN removed >= limit_;
        gone := forget_oldest(g.state, g.queue_id,
            CASE WHEN g.state = :JOB_DEAD THEN dead_before ELSE done_before END, limit_ - removed);
        removed := removed + gone;
        more := g.total - gone - done_max;
        IF g.state <> :JOB_DEAD AND done_max IS NOT NULL AND more > 0 AND removed < limit_ THEN
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
