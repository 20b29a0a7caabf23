-- Ready jobs that nobody can run now: back into line, or to their end.

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
    PERFORM end_write(st, :JOB_DEAD, now_, NULL, NULL);
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
