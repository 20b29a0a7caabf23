-- A pool says that it lives; what is due becomes ready; what was kept for long enough goes.

-- ---- heartbeat ----

-- Answers only the leases that have something to tell: a verdict that is not ok, a wish to cancel,
-- somebody who watches. The row with n = 0 says by its verdict whether the pool is registered. A lease that somebody
-- else has locked now is unavailable: it is extended by the next one.
CREATE FUNCTION heartbeat(pool_ text, status_ bytea, now_ bigint, lease_for bigint, queues text[],
    ids uuid[], refs bigint[], tokens bytea[], workers int[], percents int[], texts bytea[],
    outputs bytea[], clocked boolean)
RETURNS TABLE (n int, verdict int, cancel boolean, watched boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    over_ bigint := over_at(now_, clocked);
    extended int[];
    cancelled int[];
    watched_ int[];
    told int[];
    told_seqs bigint[];
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM pool_lock(pool_);
        PERFORM queue_lock(queue_id, false)
        FROM (SELECT queue_id FROM queue WHERE name = ANY (queues) ORDER BY queue_id) q;
    END IF;
    UPDATE pool SET beat_at = now_, status = coalesce(status_, status) WHERE name = pool_;
    RETURN QUERY SELECT 0, CASE WHEN FOUND THEN 0 ELSE 4 END, false, EXISTS (SELECT FROM watch
        WHERE id = '00000000-0000-0000-0000-000000000000' AND until > now_);
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
            WHERE queue_id = b.queue_id AND seq = b.seq AND token = b.token AND expires_at > over_
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
    watched_ := ARRAY(SELECT array_position(ids, w.id) FROM watch w
        WHERE w.until > now_ AND w.id = ANY (ids));
    RETURN QUERY SELECT e, 0, coalesce(e = ANY (cancelled), false), e = ANY (watched_)
    FROM unnest(extended) e WHERE e = ANY (cancelled) OR e = ANY (watched_);
    IF cardinality(extended) < cardinality(ids) THEN
        RETURN QUERY SELECT g.n::int, coalesce(nullif(lease_check(
            standing_of(seq_by_ref(refs[g.n], ids[g.n])), tokens[g.n], over_), 0), 2), false,
            false
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

-- Whoever leaves a mark clears away those that are over, but for what somebody else has locked.
CREATE FUNCTION watch_jobs(ids uuid[], until_ bigint, now_ bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM watch WHERE id IN (
        SELECT id FROM watch WHERE until <= now_ FOR UPDATE SKIP LOCKED);
    INSERT INTO watch AS w (id, until)
    SELECT DISTINCT g, until_ FROM unnest(ids) g
    WHERE g = '00000000-0000-0000-0000-000000000000' OR EXISTS (SELECT FROM job WHERE id = g)
    ORDER BY g
    ON CONFLICT (id) DO UPDATE SET until = greatest(w.until, excluded.until);
$$;

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

-- ---- aside ----

-- What is aside in these queues, or in all: the index leads from one type to the next, however many jobs
-- each has. The settings see to it that it is walked, whatever the statistics say.
CREATE FUNCTION aside_types(queues text[])
RETURNS TABLE (queue text, type text, why smallint, since bigint) LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
    WITH RECURSIVE line AS (
        (SELECT queue_id, why, type FROM aside ORDER BY queue_id, why, type LIMIT 1)
        UNION ALL SELECT n.queue_id, n.why, n.type FROM line l CROSS JOIN LATERAL (
            SELECT queue_id, why, type FROM aside a
            WHERE (a.queue_id, a.why, a.type) > (l.queue_id, l.why, l.type)
            ORDER BY a.queue_id, a.why, a.type LIMIT 1) n)
    SELECT q.name, l.type, l.why, o.since
    FROM line l CROSS JOIN LATERAL (SELECT name FROM queue_name q
            WHERE q.queue_id = l.queue_id LIMIT 1) q
        CROSS JOIN LATERAL (SELECT a.since FROM aside a
            WHERE a.queue_id = l.queue_id AND a.why = l.why AND a.type = l.type
            ORDER BY a.since, a.seq LIMIT 1) o
    WHERE queues IS NULL OR q.name = ANY (queues);
$$;

-- Places of such jobs: the first in line, or those that were set aside at or before a moment, each locked
-- for us. What somebody else has locked is left for the next time.
CREATE FUNCTION aside_pick(queue_id_ int, type_ text, why_ smallint, before_ bigint, limit_ bigint)
RETURNS tid[] LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
    IF before_ IS NULL THEN
        RETURN ARRAY(SELECT ctid FROM aside
            WHERE queue_id = queue_id_ AND why = why_ AND type = type_
            ORDER BY priority, due, seq LIMIT limit_ FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN ARRAY(SELECT ctid FROM aside
        WHERE queue_id = queue_id_ AND why = why_ AND type = type_ AND since <= before_
        ORDER BY since, seq LIMIT limit_ FOR UPDATE SKIP LOCKED);
END $$;

CREATE FUNCTION bring_back(queue_ text, type_ text, why_ int, before_ bigint, limit_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    queue_id_ int := queue_of(queue_);
    places tid[] := aside_pick(queue_id_, type_, why_::smallint, before_, limit_);
    moved bigint;
BEGIN
    WITH gone AS (
        DELETE FROM aside WHERE ctid = ANY (places)
        RETURNING seq, priority, due
    )
    INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
    SELECT queue_id_, g.priority, g.due, g.seq, j.key IS NOT NULL, true
    FROM gone g CROSS JOIN LATERAL (SELECT key FROM job WHERE seq = g.seq OFFSET 0) j;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > 0 THEN
        PERFORM count_aside(queue_id_, why_, -moved);
        PERFORM ring_later();
    END IF;
    RETURN moved;
END $$;

-- One that has waited too long is dead; false when somebody else has it or its key now.
CREATE FUNCTION give_one_up(st standing, epitaph bytea, reason_ int, now_ bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.key IS NOT NULL THEN
        SELECT * INTO twins FROM keyed WHERE queue_id = st.queue_id AND key = st.key
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    PERFORM FROM aside WHERE seq = st.seq FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO detail (seq, last_error, failed_at, reason)
    VALUES (st.seq, coalesce(st.aside_error, epitaph), now_, reason_)
    ON CONFLICT (seq) DO UPDATE SET last_error = excluded.last_error,
        failed_at = excluded.failed_at, reason = excluded.reason, exit_code = NULL, signal = NULL;
    PERFORM place_remove(st);
    PERFORM end_write(st, 6, now_, NULL, NULL);
    IF st.key IS NOT NULL THEN
        twins.waiting := NULL;
        PERFORM twins_store(twins);
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION give_up(queue_ text, type_ text, why_ int, before_ bigint, epitaph bytea,
    reason_ int, now_ bigint, limit_ bigint)
RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
    queue_id_ int := queue_of(queue_);
    ended bigint := 0;
    seq_ bigint;
BEGIN
    FOR seq_ IN SELECT seq FROM aside
        WHERE queue_id = queue_id_ AND why = why_::smallint AND type = type_ AND since <= before_
        ORDER BY since, seq LIMIT limit_
    LOOP
        ended := ended + give_one_up(standing_of(seq_), epitaph, reason_, now_)::int;
    END LOOP;
    RETURN ended;
END $$;

-- ---- prune ----

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
    PERFORM FROM counted OFFSET 1000 LIMIT 1;
    IF FOUND THEN
        PERFORM add_up_counts();
    END IF;
    FOR g IN SELECT s.state, c.queue_id, s.total
        FROM (SELECT queue_id, sum(done) AS done, sum(dead) AS dead, sum(cancelled) AS cancelled
            FROM counts GROUP BY queue_id) c
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
