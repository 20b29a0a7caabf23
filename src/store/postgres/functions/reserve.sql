-- Ready jobs are taken for the shares of an exchange. A share is how many jobs of one queue are wanted.

CREATE TYPE exchanged AS (
    what smallint, -- enum pg_row of protocol.h
    n int, -- of the settlement; of the job's token; of the share
    code int, -- the verdict; the share of the job; whether the queue is full; whether jobs came back; whether
        -- a share's jobs are all taken now
    seq bigint, -- the negative of it when the job is in a batch
    id uuid, type text, encoding smallint, priority smallint,
    due bigint, -- or until when the share is limited; or how long it was looked for
    run_at bigint, timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int,
    executions bigint, created_at bigint, key text, update_flags smallint, idempotency_key text,
    payload bytea, headers bytea, tags text
);

-- One that is about no job.
CREATE FUNCTION exchanged_row(what_ int, n_ int, code_ int, until_ bigint) RETURNS exchanged
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    answer exchanged;
BEGIN
    answer.what := what_;
    answer.n := n_;
    answer.code := code_;
    answer.due := until_;
    RETURN answer;
END $$;

-- ---- limits ----

-- How many jobs a share may take: because of all that bounds it, of max_running, of its rate; and how
-- far the queue has been paid ahead. NULL is no such limit.
CREATE TYPE allowance AS (most bigint, room bigint, allowed bigint, ahead bigint);

CREATE FUNCTION share_allowance(q queue, max_ bigint, running bigint, rate_count bigint,
    rate_period bigint, now_ bigint) RETURNS allowance LANGUAGE plpgsql AS $$
DECLARE
    limits allowance;
BEGIN
    IF rate_count > 0 THEN
        limits.ahead := rate_ahead(rate_count, rate_period, q.spent_until, now_);
        limits.allowed := rate_allows(rate_count, rate_period, limits.ahead);
    END IF;
    IF running > 0 THEN
        limits.room := greatest(0, running
            - (SELECT count(*) FROM (SELECT FROM lease WHERE queue_id = q.queue_id LIMIT running) l)
            - (SELECT coalesce(sum(bit_count(open)), 0) FROM batch WHERE queue_id = q.queue_id));
    END IF;
    limits.most := least(max_, limits.allowed, limits.room);
    RETURN limits;
END $$;

-- So many were taken. Answers what stood in the way of more, if there are any; whoever finds the queue
-- full waits for the bell.
CREATE FUNCTION share_spent(queue_id_ int, share int, limits allowance, taken bigint, max_ bigint,
    rate_count bigint, rate_period bigint, now_ bigint) RETURNS SETOF exchanged
LANGUAGE plpgsql AS $$
DECLARE
    is_full boolean := coalesce(limits.room = taken, false);
    is_spent boolean := coalesce(limits.allowed = taken, false);
BEGIN
    IF rate_count > 0 AND taken > 0 THEN
        limits.ahead := limits.ahead + rate_cost(rate_count, rate_period, taken);
        UPDATE queue SET spent_until = now_ + limits.ahead WHERE queue_id = queue_id_;
    END IF;
    IF taken >= max_ OR NOT (is_full OR is_spent) THEN
        RETURN;
    END IF;
    PERFORM FROM ready WHERE queue_id = queue_id_ LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF is_full THEN
        UPDATE queue SET awaited = true WHERE queue_id = queue_id_ AND NOT awaited;
    END IF;
    RETURN NEXT exchanged_row(:ROW_LIMIT, share, is_full::int,
        CASE WHEN is_spent THEN rate_next(rate_count, rate_period, limits.ahead, now_) END);
END $$;

-- Leases that ran out of the queues that we have alone. Answers which queues.
CREATE FUNCTION reclaim_shares(queue_ids int[], alone boolean[], shares int[], maxes bigint[],
    over_ bigint) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    reclaimed int[] := '{}';
    queue_id_ int;
BEGIN
    FOR i IN 1..cardinality(shares) LOOP
        CONTINUE WHEN NOT coalesce(alone[shares[i]], false) OR maxes[i] = 0;
        queue_id_ := queue_ids[shares[i]];
        PERFORM FROM queue WHERE queue_id = queue_id_ AND next_expiry <= over_;
        IF FOUND THEN
            PERFORM reclaim_queue(queue_id_, over_, 1000);
            reclaimed := reclaimed || queue_id_;
        END IF;
    END LOOP;
    RETURN reclaimed;
END $$;

-- ---- places ----

-- Places that were picked: of plain jobs, with their seqs, and of those that have a key or traces.
CREATE TYPE picked AS (plain tid[], seqs bigint[], traced tid[], keyed boolean);

-- The first of a queue in line from a place on, locked for us. Of those with a key, only such whose
-- key nobody holds: we hold places already and must not wait.
CREATE FUNCTION pick(queue_id_ int, from_priority int, from_due bigint, from_seq bigint,
    to_priority int, max_ bigint, types_ text[]) RETURNS picked
LANGUAGE plpgsql AS $$
DECLARE
    found_ picked;
    next_ record;
BEGIN
    IF types_ IS NULL THEN
        SELECT array_agg(p.place) FILTER (WHERE NOT p.traces),
            array_agg(p.seq) FILTER (WHERE NOT p.traces),
            array_agg(p.place) FILTER (WHERE p.traces), bool_or(p.keyed)
        INTO found_ FROM (
            SELECT r.ctid AS place, r.seq, r.traces, r.keyed FROM ready r
            WHERE r.queue_id = queue_id_ AND r.priority <= to_priority
                AND (r.priority, r.due, r.seq) > (from_priority, from_due, from_seq)
            ORDER BY r.priority, r.due, r.seq LIMIT max_ FOR UPDATE SKIP LOCKED) p;
    ELSE
        SELECT array_agg(p.place) FILTER (WHERE NOT p.traces),
            array_agg(p.seq) FILTER (WHERE NOT p.traces),
            array_agg(p.place) FILTER (WHERE p.traces), bool_or(p.keyed)
        INTO found_ FROM (
            SELECT r.place, r.seq, r.traces, r.keyed
            FROM (SELECT f.ctid AS place, f.priority, f.due, f.seq, f.traces, f.keyed FROM ready f
                    WHERE f.queue_id = queue_id_ AND f.priority <= to_priority
                        AND (f.priority, f.due, f.seq) > (from_priority, from_due, from_seq)
                    ORDER BY f.priority, f.due, f.seq LIMIT :JOB_LOOK_MAX) r
                CROSS JOIN LATERAL (SELECT FROM ready l WHERE l.ctid = r.place
                    AND (SELECT j.type FROM job j WHERE j.seq = r.seq) = ANY (types_)
                    FOR UPDATE SKIP LOCKED) l
            ORDER BY r.priority, r.due, r.seq LIMIT max_) p;
    END IF;
    IF NOT found_.keyed THEN
        RETURN found_;
    END IF;
    FOR next_ IN SELECT r.ctid AS place, r.seq, (SELECT j.key FROM job j WHERE j.seq = r.seq) AS key
        FROM ready r WHERE r.ctid = ANY (found_.traced) AND r.keyed
    LOOP
        PERFORM FROM keyed k WHERE k.queue_id = queue_id_ AND k.key = next_.key
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            found_.traced := array_remove(found_.traced, next_.place);
        END IF;
    END LOOP;
    RETURN found_;
END $$;

CREATE FUNCTION picked_count(p picked) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT (coalesce(cardinality(p.plain), 0) + coalesce(cardinality(p.traced), 0))::bigint;
$$;

-- The places of a share. Segments say from where on its jobs lie, as far as the dispatcher knows
-- (ops/scan_start.h); what came back with this very exchange may be before them, and then they are of
-- no use. From the head it goes when nothing is known or found, or less than asked for and it may look:
-- that takes `looked` microseconds, else NULL.
CREATE FUNCTION pick_share(queue_id_ int, share int, max_ bigint, types_ text[], may_look boolean,
    use_segments boolean, segment_shares int[], segment_priorities int[], segment_dues bigint[],
    segment_seqs bigint[], segment_ends int[], OUT all_ picked, OUT looked bigint)
LANGUAGE plpgsql AS $$
DECLARE
    more picked;
    count_ bigint := 0;
    start timestamptz;
BEGIN
    FOR k IN 1..coalesce(cardinality(segment_shares), 0) LOOP
        CONTINUE WHEN segment_shares[k] <> share;
        EXIT WHEN NOT use_segments OR count_ >= max_;
        more := pick(queue_id_, segment_priorities[k], segment_dues[k], segment_seqs[k],
            segment_ends[k], max_ - count_, types_);
        all_.plain := all_.plain || more.plain;
        all_.seqs := all_.seqs || more.seqs;
        all_.traced := all_.traced || more.traced;
        all_.keyed := all_.keyed OR more.keyed;
        count_ := picked_count(all_);
    END LOOP;
    IF count_ = 0 OR (may_look AND count_ < max_) THEN
        start := clock_timestamp();
        all_ := pick(queue_id_, -1, 0, 0, 32767, max_, types_);
        -- Not by usec_of(), which would be planned each time: README.md.
        looked := extract(epoch FROM clock_timestamp() - start) * :USEC_PER_SEC;
    END IF;
END $$;

-- What was picked has a key: its job is the one that runs with it.
CREATE FUNCTION mark_running(queue_id_ int, places tid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    next_ record;
BEGIN
    FOR next_ IN SELECT r.seq, (SELECT j.key FROM job j WHERE j.seq = r.seq) AS key
        FROM ready r WHERE r.ctid = ANY (places) AND r.keyed
    LOOP
        UPDATE keyed SET waiting = NULL, running = next_.seq
        WHERE queue_id = queue_id_ AND key = next_.key;
    END LOOP;
END $$;
