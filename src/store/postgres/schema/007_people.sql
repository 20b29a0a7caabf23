-- What people do to jobs. Each takes ids and answers a verdict per id, in order: 0 ok, 4 not_found,
-- 8 conflict.

CREATE FUNCTION cancel_one(st standing, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state > 4 THEN
        RETURN 8;
    END IF;
    IF st.state = 3 THEN
        UPDATE lease SET cancel_requested_at = coalesce(cancel_requested_at, now_), traces = true
        WHERE queue_id = st.queue_id AND seq = st.seq;
        RETURN 0;
    END IF;
    PERFORM place_remove(st);
    PERFORM end_write(st, 7, now_, NULL, NULL);
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        twins.waiting := NULL;
        PERFORM twins_store(twins);
    END IF;
    RETURN 0;
END $$;

CREATE FUNCTION cancel(ids uuid[], now_ bigint) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
    held record := hold_all(ids);
    st standing;
BEGIN
    FOR i IN 1..cardinality(ids) LOOP
        st := standing_of(held.seqs[i]);
        RETURN NEXT CASE WHEN st.seq IS NULL THEN 4 ELSE cancel_one(st, now_) END;
    END LOOP;
    PERFORM let_go_all(held.keys);
END $$;

CREATE FUNCTION run_one(st standing, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF st.state = 1 THEN
        RETURN 0;
    END IF;
    IF st.state IS NULL OR st.state NOT IN (0, 4) THEN
        RETURN 8;
    END IF;
    PERFORM place_remove(st);
    st.due := now_;
    st.state := 1;
    UPDATE job SET due = now_, run_at = NULL WHERE seq = st.seq;
    PERFORM place_add(st);
    RETURN 0;
END $$;

CREATE FUNCTION run_now(ids uuid[], now_ bigint) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
    held record := hold_all(ids);
    st standing;
BEGIN
    FOR i IN 1..cardinality(ids) LOOP
        st := standing_of(held.seqs[i]);
        RETURN NEXT CASE WHEN st.seq IS NULL THEN 4 ELSE run_one(st, now_) END;
    END LOOP;
    PERFORM let_go_all(held.keys);
END $$;

CREATE FUNCTION requeue_one(st standing, run_at_ bigint, now_ bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state < 6 THEN
        RETURN 8;
    END IF;
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        -- Behind a running twin it would be blocked, and merged into that if it comes back: one of
        -- another type cannot be.
        IF twins.waiting IS NOT NULL
            OR (SELECT type FROM job WHERE seq = twins.running) <> st.type THEN
            RETURN 8;
        END IF;
    END IF;
    st.due := coalesce(run_at_, now_);
    st.state := CASE WHEN twins.running IS NOT NULL THEN 2 ELSE state_when_due(st.due, now_) END;
    st.attempts := 0;
    st.stalls := 0;
    UPDATE job SET due = st.due, run_at = run_at_, attempts = 0, stalls = 0,
        executions = st.executions
    WHERE seq = st.seq;
    UPDATE detail SET last_error = NULL, failed_at = NULL, reason = NULL, exit_code = NULL,
        signal = NULL, progress_percent = NULL, progress_text = NULL, result = NULL
    WHERE seq = st.seq;
    PERFORM end_remove(st.seq);
    PERFORM place_add(st);
    IF st.key IS NOT NULL THEN
        twins.waiting := st.seq;
        PERFORM twins_store(twins);
    END IF;
    RETURN 0;
END $$;

CREATE FUNCTION requeue(ids uuid[], run_at_ bigint, now_ bigint) RETURNS SETOF int
LANGUAGE plpgsql AS $$
DECLARE
    held record := hold_all(ids);
    st standing;
BEGIN
    FOR i IN 1..cardinality(ids) LOOP
        st := standing_of(held.seqs[i]);
        RETURN NEXT CASE WHEN st.seq IS NULL THEN 4 ELSE requeue_one(st, run_at_, now_) END;
    END LOOP;
    PERFORM let_go_all(held.keys);
END $$;

CREATE FUNCTION remove(ids uuid[]) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
    held record := hold_all(ids);
    st standing;
BEGIN
    FOR i IN 1..cardinality(ids) LOOP
        st := standing_of(held.seqs[i]);
        IF st.seq IS NULL THEN
            RETURN NEXT 4;
        ELSIF st.state IS NULL OR st.state < 5 THEN
            RETURN NEXT 8;
        ELSE
            DELETE FROM idempotency WHERE id = st.id;
            PERFORM forget(st.seq);
            RETURN NEXT 0;
        END IF;
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
        RETURN 4;
    END IF;
    SELECT coalesce(sum(coalesce(scheduled, 0) + coalesce(ready, 0) + coalesce(blocked, 0)
            + coalesce(running, 0) + coalesce(retry, 0) + coalesce(done, 0) + coalesce(dead, 0)
            + coalesce(cancelled, 0)), 0),
        coalesce(sum(coalesce(done_total, 0) + coalesce(failed_total, 0)), 0)
    INTO jobs, totals FROM counts WHERE queue_id = queue_id_;
    IF jobs <> 0 THEN
        RETURN 8;
    END IF;
    PERFORM queues_enter(ARRAY[name_]);
    UPDATE queue SET hidden_totals = totals, paused_at = NULL, paused_by = NULL
    WHERE queue_id = queue_id_;
    RETURN 0;
END $$;

-- Job by job, by one plan for any limit: to plan this anew for each takes longer than to carry it out.
CREATE FUNCTION newest_failures(limit_ bigint) RETURNS SETOF job_view LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT v.* FROM (SELECT d.seq, d.failed_at FROM detail d WHERE d.failed_at IS NOT NULL
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

-- ---- lists ----

-- Each list is read from the index of its state, in its order, by statements that are put together
-- here. In all of them $1 to $4 are the two ends of the range, $5 is the queue, $6 the state.
--
-- Ready, running and ended jobs lie in branches: those of one queue, of one queue and priority (-1: of one
-- queue, aside). The index
-- leads from one branch to the next, so that branches without jobs cost nothing; of each branch the
-- first job in the range is known then, and a page needs no more branches than it has jobs, and
-- nothing of any behind the last of these first ones.

CREATE FUNCTION list_branches(state_ int, one_queue boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN state_ = 1 THEN format('WITH RECURSIVE in_line AS (
            (SELECT queue_id, priority FROM ready WHERE %1$s
                ORDER BY queue_id, priority LIMIT 1)
            UNION ALL SELECT n.queue_id, n.priority FROM in_line b CROSS JOIN LATERAL (
                SELECT r.queue_id, r.priority FROM ready r WHERE %2$s
                ORDER BY r.queue_id, r.priority LIMIT 1) n
        ), put_aside AS (
            (SELECT queue_id FROM aside WHERE %1$s ORDER BY queue_id LIMIT 1)
            UNION ALL SELECT n.queue_id FROM put_aside b CROSS JOIN LATERAL (
                SELECT a.queue_id FROM aside a WHERE a.queue_id > b.queue_id AND %3$s
                ORDER BY a.queue_id LIMIT 1) n
        ), branch AS (SELECT queue_id, priority FROM in_line
            UNION ALL SELECT queue_id, -1::smallint FROM put_aside)',
            CASE WHEN one_queue THEN 'queue_id = $5' ELSE 'true' END,
            CASE WHEN one_queue THEN 'r.queue_id = $5 AND r.priority > b.priority'
                ELSE '(r.queue_id, r.priority) > (b.queue_id, b.priority)' END,
            CASE WHEN one_queue THEN 'false' ELSE 'true' END)
        WHEN one_queue THEN 'WITH branch AS (SELECT $5 AS queue_id, 0::smallint AS priority)'
        ELSE format('WITH RECURSIVE branch AS (
            (SELECT queue_id, 0::smallint AS priority FROM %1$s ORDER BY queue_id LIMIT 1)
            UNION ALL SELECT n.queue_id, 0::smallint FROM branch b CROSS JOIN LATERAL (
                SELECT queue_id FROM %1$s AND queue_id > b.queue_id ORDER BY queue_id LIMIT 1) n)',
            CASE WHEN state_ = 3 THEN 'lease WHERE true' ELSE 'ended WHERE state = $6' END)
    END;
$$;

-- (at, seq, id) in order: of branch b, or of all where there are no branches.
CREATE FUNCTION list_rows(state_ int, one_queue boolean, up boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format(CASE
            WHEN state_ IS NULL THEN
                'SELECT 0::bigint AS at, t.seq, t.id FROM job t
                WHERE t.id >= $10 AND (t.id > $10 OR $12) AND t.id < $11 ORDER BY t.id %3$s'
            WHEN state_ = 1 THEN
                '(SELECT t.due AS at, t.seq, NULL::uuid AS id FROM ready t
                WHERE t.queue_id = b.queue_id AND t.priority = b.priority AND %1$s ORDER BY %2$s)
                UNION ALL (SELECT t.due, t.seq, NULL FROM aside t
                WHERE t.queue_id = b.queue_id AND b.priority = -1 AND %1$s ORDER BY %2$s)'
            WHEN state_ = 3 THEN
                'SELECT t.started_at AS at, t.seq, NULL::uuid AS id FROM lease t
                WHERE t.queue_id = b.queue_id AND %1$s ORDER BY %2$s'
            WHEN state_ < 5 THEN
                'SELECT t.due AS at, t.seq, NULL::uuid AS id FROM waiting t
                WHERE t.state = $6 AND %4$s AND %1$s ORDER BY %2$s'
            ELSE
                'SELECT t.ended_at AS at, t.seq, NULL::uuid AS id FROM ended t
                WHERE t.state = $6 AND t.queue_id = b.queue_id AND %1$s ORDER BY %2$s'
        END,
        format('(t.%1$s, t.seq) > ($1, $2) AND (t.%1$s, t.seq) < ($3, $4)', c.time),
        format('t.%s %s, t.seq %2$s', c.time, c.way), c.way,
        CASE WHEN one_queue THEN 't.queue_id = $5' ELSE 'true' END)
    FROM (SELECT CASE WHEN state_ > 4 THEN 'ended_at' WHEN state_ = 3 THEN 'started_at' ELSE 'due'
            END AS time, CASE WHEN up THEN 'ASC' ELSE 'DESC' END AS way) c;
$$;

-- What no index serves is compared with each candidate. Without a state, nor is the queue.
CREATE FUNCTION list_picks(state_ int, picky boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN NOT picky THEN 'true' ELSE format('coalesce((
        SELECT ($7 IS NULL OR j.type = $7) AND ($8 IS NULL OR j.key = $8) AND %s
            AND ($9 IS NULL OR position($9 IN coalesce(
                (SELECT a.error FROM aside a WHERE a.seq = j.seq),
                (SELECT d.last_error FROM detail d WHERE d.seq = j.seq))) > 0)
        FROM job j WHERE j.seq = m.seq), false)',
        CASE WHEN state_ IS NULL THEN '($5 IS NULL OR j.queue_id = $5)' ELSE 'true' END)
    END;
$$;

-- The jobs of a page by their numbers, and its last candidate if another job of the list is behind it,
-- or may be, because not all were looked at. The range is as struct listing_range has it; state_ NULL
-- is any, in order of id. The settings see to it that the indexes are walked, whatever the statistics
-- say.
CREATE FUNCTION list_page(low_at bigint, low_ref bigint, high_at bigint, high_ref bigint,
    queue_ text, state_ int, type_ text, key_ text, error_ bytea, low_id uuid, high_id uuid,
    low_is_in boolean, up boolean, limit_ int, look_max int, OUT seqs bigint[], OUT more boolean,
    OUT at bigint, OUT ref bigint, OUT id uuid)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    queue_id_ int := queue_of(queue_);
    one_queue boolean := queue_ IS NOT NULL;
    picky boolean := coalesce(type_, key_) IS NOT NULL OR error_ IS NOT NULL
        OR (state_ IS NULL AND one_queue);
    rows_ text := list_rows(state_, one_queue, up);
    way text := CASE WHEN up THEN 'ASC' ELSE 'DESC' END;
    most int := CASE WHEN picky THEN look_max ELSE limit_ END; -- to look at
    looked int := 0;
    queues int[];
    priorities smallint[];
    ats bigint[];
    refs bigint[];
    next_ record;
BEGIN
    seqs := '{}';
    more := false;
    IF one_queue AND queue_id_ IS NULL THEN
        RETURN;
    END IF;
    IF state_ IN (1, 3) OR state_ > 4 THEN
        EXECUTE format('%1$s SELECT array_agg(h.queue_id), array_agg(h.priority), array_agg(h.at),
                array_agg(h.seq)
            FROM (SELECT b.queue_id, b.priority, f.at, f.seq
                FROM branch b CROSS JOIN LATERAL (%2$s LIMIT 1) f
                ORDER BY f.at %3$s, f.seq %3$s LIMIT %4$s) h',
            list_branches(state_, one_queue), rows_, way, most + 1)
        INTO queues, priorities, ats, refs
        USING low_at, low_ref, high_at, high_ref, queue_id_, state_::smallint;
        -- Of many branches together no more is looked at than is soon sorted.
        IF picky THEN
            most := greatest(limit_, least(most, 50000 / greatest(cardinality(queues), 1)));
        END IF;
        IF cardinality(queues) > most AND up THEN
            high_at := ats[most + 1];
            high_ref := refs[most + 1] + 1;
        ELSIF cardinality(queues) > most THEN
            low_at := ats[most + 1];
            low_ref := refs[most + 1] - 1;
        END IF;
        rows_ := format('SELECT r.at, r.seq, r.id FROM unnest($13, $14) b (queue_id, priority)
            CROSS JOIN LATERAL (%1$s LIMIT %2$s) r ORDER BY r.at %3$s, r.seq %3$s',
            rows_, most + 1, way);
    END IF;
    FOR next_ IN EXECUTE format('SELECT m.at, m.seq, m.id, %s AS wanted FROM (%s LIMIT %s) m',
            list_picks(state_, picky), rows_, most + 1)
        USING low_at, low_ref, high_at, high_ref, queue_id_, state_::smallint, type_, key_, error_,
            low_id, high_id, low_is_in, queues, priorities
    LOOP
        more := looked >= most OR (cardinality(seqs) >= limit_ AND next_.wanted);
        EXIT WHEN more;
        looked := looked + 1;
        at := next_.at;
        ref := next_.seq;
        id := next_.id;
        IF next_.wanted THEN
            seqs := seqs || next_.seq;
        END IF;
    END LOOP;
END $$;
