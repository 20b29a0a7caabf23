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
    SELECT CASE WHEN state_ = :JOB_READY THEN format('WITH RECURSIVE in_line AS (
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
            CASE WHEN state_ = :JOB_RUNNING THEN 'leases WHERE true' ELSE 'ended WHERE state = $6' END)
    END;
$$;

-- (at, seq, id) in order: of branch b, or of all where there are no branches.
CREATE FUNCTION list_rows(state_ int, one_queue boolean, by_tag boolean, up boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT format(CASE
            WHEN by_tag THEN
                'SELECT 0::bigint AS at, j.seq, t.id FROM tag t CROSS JOIN LATERAL (
                    SELECT seq FROM job WHERE id = t.id OFFSET 0) j
                WHERE t.tag = $15 AND t.id >= $10 AND (t.id > $10 OR $12) AND t.id < $11
                ORDER BY t.id %3$s'
            WHEN state_ IS NULL THEN
                'SELECT 0::bigint AS at, t.seq, t.id FROM job t
                WHERE t.id >= $10 AND (t.id > $10 OR $12) AND t.id < $11 ORDER BY t.id %3$s'
            WHEN state_ = :JOB_READY THEN
                '(SELECT t.due AS at, t.seq, NULL::uuid AS id FROM ready t
                WHERE t.queue_id = b.queue_id AND t.priority = b.priority AND %1$s ORDER BY %2$s)
                UNION ALL (SELECT t.due, t.seq, NULL FROM aside t
                WHERE t.queue_id = b.queue_id AND b.priority = -1 AND %1$s ORDER BY %2$s)'
            WHEN state_ = :JOB_RUNNING THEN
                'SELECT t.started_at AS at, t.seq, NULL::uuid AS id FROM leases t
                WHERE t.queue_id = b.queue_id AND %1$s ORDER BY %2$s'
            WHEN state_ < :JOB_DONE THEN
                'SELECT t.due AS at, t.seq, NULL::uuid AS id FROM waiting t
                WHERE t.state = $6 AND %4$s AND %1$s ORDER BY %2$s'
            ELSE
                'SELECT t.ended_at AS at, t.seq, NULL::uuid AS id FROM ended t
                WHERE t.state = $6 AND t.queue_id = b.queue_id AND %1$s ORDER BY %2$s'
        END,
        format('(t.%1$s, t.seq) > ($1, $2) AND (t.%1$s, t.seq) < ($3, $4)', c.time),
        format('t.%s %s, t.seq %2$s', c.time, c.way), c.way,
        CASE WHEN one_queue THEN 't.queue_id = $5' ELSE 'true' END)
    FROM (SELECT CASE WHEN state_ >= :JOB_DONE THEN 'ended_at'
            WHEN state_ = :JOB_RUNNING THEN 'started_at' ELSE 'due' END AS time,
        CASE WHEN up THEN 'ASC' ELSE 'DESC' END AS way) c;
$$;

-- What no index serves is compared with each candidate. In order of id, nor is the queue, and of what has a
-- tag the state.
CREATE FUNCTION list_picks(by_id boolean, by_tag boolean, picky boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN NOT picky THEN 'true' ELSE format('coalesce((
        SELECT ($7 IS NULL OR j.type = $7) AND ($8 IS NULL OR j.key = $8) AND %s AND %s
            AND ($9 IS NULL OR position($9 IN coalesce(
                (SELECT a.error FROM aside a WHERE a.seq = j.seq),
                (SELECT d.last_error FROM detail d WHERE d.seq = j.seq))) > 0)
        FROM job j WHERE j.seq = m.seq), false)',
        CASE WHEN by_id THEN '($5 IS NULL OR j.queue_id = $5)' ELSE 'true' END,
        CASE WHEN by_tag THEN '($6 IS NULL OR (SELECT v.state FROM job_view v WHERE v.seq = j.seq) = $6)'
            ELSE 'true' END)
    END;
$$;

-- The jobs of a page by their numbers, and its last candidate if another job of the list is behind it,
-- or may be, because not all were looked at. The range is as struct listing_range has it; state_ NULL
-- is any, in order of id; with a tag they are in order of id as well. The settings see to it that the indexes are walked, whatever the statistics
-- say.
CREATE FUNCTION list_page(low_at bigint, low_ref bigint, high_at bigint, high_ref bigint,
    queue_ text, state_ int, type_ text, key_ text, error_ bytea, low_id uuid, high_id uuid,
    low_is_in boolean, up boolean, limit_ int, look_max int, tag_ text, OUT seqs bigint[], OUT more boolean,
    OUT at bigint, OUT ref bigint, OUT id uuid)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    queue_id_ int := queue_of(queue_);
    one_queue boolean := queue_ IS NOT NULL;
    by_tag boolean := tag_ IS NOT NULL;
    by_id boolean := by_tag OR state_ IS NULL;
    picky boolean := coalesce(type_, key_) IS NOT NULL OR error_ IS NOT NULL
        OR (by_id AND one_queue) OR (by_tag AND state_ IS NOT NULL);
    rows_ text := list_rows(state_, one_queue, by_tag, up);
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
    IF NOT by_id AND (state_ IN (:JOB_READY, :JOB_RUNNING) OR state_ >= :JOB_DONE) THEN
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
            list_picks(by_id, by_tag, picky), rows_, most + 1)
        USING low_at, low_ref, high_at, high_ref, queue_id_, state_::smallint, type_, key_, error_,
            low_id, high_id, low_is_in, queues, priorities, tag_
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
