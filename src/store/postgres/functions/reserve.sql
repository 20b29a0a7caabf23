-- Ready jobs are taken: each gets a lease.

CREATE TYPE exchanged AS (
    what smallint, -- 0 a verdict that is not ok, 1 a job, 2 what stood in the way, 3 the bell,
                   -- 4 a share was looked for from the head of its queue
    n int, -- of the settlement; of the job's token; of the share
    code int, -- the verdict; the share of the job; whether the queue is full; whether jobs came back
    seq bigint, id uuid, type text, encoding smallint, priority smallint,
    due bigint, -- or until when the share is limited
    run_at bigint, timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int,
    executions bigint, created_at bigint, key text, update_flags smallint, idempotency_key text,
    payload bytea
);

-- The first of a queue in line from a place on, locked for us. Of those with a key, only such whose
-- key nobody holds: we hold places already and must not wait.
CREATE FUNCTION pick(queue_id_ int, from_priority int, from_due bigint, from_seq bigint,
    to_priority int, max_ bigint, types_ text[], OUT places tid[], OUT keyed_ boolean)
LANGUAGE plpgsql AS $$
DECLARE
    next_ record;
BEGIN
    IF types_ IS NULL THEN
        SELECT array_agg(p.place), bool_or(p.keyed) INTO places, keyed_ FROM (
            SELECT r.ctid AS place, r.keyed FROM ready r
            WHERE r.queue_id = queue_id_ AND r.priority <= to_priority
                AND (r.priority, r.due, r.seq) > (from_priority, from_due, from_seq)
            ORDER BY r.priority, r.due, r.seq LIMIT max_ FOR UPDATE SKIP LOCKED) p;
    ELSE
        SELECT array_agg(p.place), bool_or(p.keyed) INTO places, keyed_ FROM (
            SELECT r.ctid AS place, r.keyed FROM ready r
            WHERE r.queue_id = queue_id_ AND r.priority <= to_priority
                AND (r.priority, r.due, r.seq) > (from_priority, from_due, from_seq)
                AND (SELECT j.type FROM job j WHERE j.seq = r.seq) = ANY (types_)
            ORDER BY r.priority, r.due, r.seq LIMIT max_ FOR UPDATE SKIP LOCKED) p;
    END IF;
    IF NOT keyed_ OR places IS NULL THEN
        RETURN;
    END IF;
    FOR next_ IN SELECT r.ctid AS place, r.seq, (SELECT j.key FROM job j WHERE j.seq = r.seq) AS key
        FROM ready r WHERE r.ctid = ANY (places) AND r.keyed
    LOOP
        PERFORM FROM keyed k WHERE k.queue_id = queue_id_ AND k.key = next_.key
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            places := array_remove(places, next_.place);
        END IF;
    END LOOP;
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
