-- Leases that were given together. An exchange gives the plain jobs that it reserves of one queue one row of
-- `batch` instead of a row of `lease` each, and plain acks clear bits of it. Everything else is about one
-- lease: that is unpacked first, which makes it the row of `lease` that it would have been, token
-- and all. So nothing else has to know of batches but what reads.

-- A token is that of the batch and a number.
CREATE FUNCTION token_number(token bytea) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(token, 16) << 24) | (get_byte(token, 17) << 16) | (get_byte(token, 18) << 8)
        | get_byte(token, 19);
$$;

-- False when one of this token is there already: a token was used twice.
CREATE FUNCTION batch_add(queue_id_ int, batch_ bytea, first_ int, seqs_ bigint[], pool_ text,
    now_ bigint, lease_for bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO batch (queue_id, batch, first, expires_at, pool, started_at, lowest, highest, open,
        seqs)
    SELECT queue_id_, batch_, first_, now_ + lease_for, pool_, now_, min(s), max(s),
        repeat('1', cardinality(seqs_))::varbit, seqs_
    FROM unnest(seqs_) s
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- These leave the batch, which the caller has locked; the last one takes it along.
CREATE FUNCTION batch_close(b batch, mask varbit) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_ varbit := b.open & ~mask;
BEGIN
    IF bit_count(left_) = 0 THEN
        DELETE FROM batch WHERE queue_id = b.queue_id AND batch = b.batch;
    ELSE
        UPDATE batch SET open = left_ WHERE queue_id = b.queue_id AND batch = b.batch;
    END IF;
END $$;

-- The leases of these jobs have just left their batches: what was asked of one of them is kept with it now.
CREATE FUNCTION take_along_cancels(queue_id_ int, seqs_ bigint[]) RETURNS void LANGUAGE sql AS $$
    WITH asked AS (DELETE FROM to_cancel WHERE seq = ANY (seqs_) RETURNING seq, asked_at)
    UPDATE lease l SET cancel_requested_at = a.asked_at, traces = true
    FROM asked a WHERE l.queue_id = queue_id_ AND l.seq = a.seq;
$$;

-- Those of the mask that are still in the batch, which the caller has locked, get leases of their own.
-- Answers how many.
CREATE FUNCTION unpack_members(b batch, mask varbit) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    leaving varbit := b.open & mask;
BEGIN
    IF bit_count(leaving) = 0 THEN
        RETURN 0;
    END IF;
    INSERT INTO lease (queue_id, seq, execution, token, expires_at, pool, started_at, traces)
    SELECT b.queue_id, m.seq, 1, b.batch || int4send(b.first + m.n::int - 1), b.expires_at, b.pool,
        b.started_at, false
    FROM unnest(b.seqs) WITH ORDINALITY m (seq, n) WHERE get_bit(leaving, m.n::int - 1) = 1;
    PERFORM batch_close(b, leaving);
    IF EXISTS (SELECT FROM to_cancel) THEN
        PERFORM take_along_cancels(b.queue_id, ARRAY(SELECT m.seq
            FROM unnest(b.seqs) WITH ORDINALITY m (seq, n) WHERE get_bit(leaving, m.n::int - 1) = 1));
    END IF;
    RETURN bit_count(leaving);
END $$;

-- A bit for each number of the batch: whether it is one of these.
CREATE FUNCTION batch_mask(b batch, numbers int[]) RETURNS varbit LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN a.number IS NULL THEN '0' ELSE '1' END, '' ORDER BY g.number)::varbit
    FROM generate_series(b.first, b.first + length(b.open) - 1) g (number)
        LEFT JOIN (SELECT DISTINCT u.number FROM unnest(numbers) u (number)) a
            ON a.number = g.number;
$$;

-- The leases of these tokens, each of a job of that queue. What is in no batch is left alone, and so is a
-- batch that another pool has locked.
CREATE FUNCTION unpack(queue_ids int[], tokens bytea[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asked record;
    b batch;
BEGIN
    FOR asked IN SELECT a.* FROM (
            SELECT substr(u.token, 1, :BATCH_TOKEN_SIZE) AS batch, u.queue_id,
                array_agg(token_number(u.token)) AS numbers
            FROM unnest(queue_ids, tokens) u (queue_id, token) GROUP BY 1, 2) a
            CROSS JOIN LATERAL (SELECT FROM batch
                WHERE queue_id = a.queue_id AND batch = a.batch OFFSET 0) b
        ORDER BY a.batch, a.queue_id
    LOOP
        SELECT * INTO b FROM batch WHERE queue_id = asked.queue_id AND batch = asked.batch
        FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            PERFORM unpack_members(b, batch_mask(b, asked.numbers));
        END IF;
    END LOOP;
END $$;

-- Batches of a queue that ran out, until so many leases are unpacked.
CREATE FUNCTION unpack_expired(queue_id_ int, now_ bigint, most bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    unpacked bigint := 0;
    b batch;
BEGIN
    FOR b IN SELECT * FROM batch WHERE queue_id = queue_id_ AND expires_at <= now_
        ORDER BY batch FOR UPDATE SKIP LOCKED
    LOOP
        EXIT WHEN unpacked >= most;
        unpacked := unpacked + unpack_members(b, b.open);
    END LOOP;
END $$;

-- Acks of leases of one batch, all of them or none. The bits of the mask stand for numbers from `low` on, in the
-- order of the refs. When one of them is not there, is another job's or shall be cancelled, all are
-- unpacked: the caller settles them as single leases then, and finds out which.
CREATE FUNCTION settle_batch(now_ bigint, queue_id_ int, forget_ boolean, batch_ bytea, low int,
    mask varbit, refs bigint[], tokens bytea[], workers int[], starts bigint[], walls bigint[],
    users bigint[], systems bigint[], rss bigint[], exits int[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    b batch;
    before_ int;
    whole varbit;
    members bigint[];
BEGIN
    SELECT * INTO b FROM batch
    WHERE queue_id = queue_id_ AND batch = batch_ AND expires_at > now_ FOR UPDATE;
    before_ := low - b.first; -- members that stand before the first of ours
    IF NOT FOUND OR before_ < 0 OR before_ > length(b.open) - length(mask) THEN
        RETURN false;
    END IF;
    whole := overlay((b.open # b.open) PLACING mask FROM before_ + 1);
    members := b.seqs[before_ + 1:before_ + length(mask)];
    IF bit_count(mask) < length(mask) THEN
        members := ARRAY(SELECT m.seq FROM unnest(members) WITH ORDINALITY m (seq, n)
            WHERE get_bit(mask, m.n::int - 1) = 1);
    END IF;
    IF b.open & whole <> whole OR members <> refs OR (EXISTS (SELECT FROM to_cancel)
        AND EXISTS (SELECT FROM to_cancel WHERE seq = ANY (refs))) THEN
        PERFORM unpack_members(b, whole);
        RETURN false;
    END IF;
    PERFORM batch_close(b, whole);
    IF forget_ THEN
        DELETE FROM job WHERE seq = ANY (refs);
    ELSE
        INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls,
            token, ended_by, pool, worker, started_at, wall, user_time, system_time, max_rss_kb,
            exit_code)
        SELECT s.ref, :JOB_DONE, false, queue_id_, now_, 1, 0, 0, s.token, :SETTLE_ACK, b.pool,
            s.worker, coalesce(s.started_at, b.started_at), s.wall, s.user_time, s.system_time,
            s.max_rss_kb, s.exit_code
        FROM unnest(refs, tokens, workers, starts, walls, users, systems, rss, exits)
            s (ref, token, worker, started_at, wall, user_time, system_time, max_rss_kb, exit_code);
    END IF;
    INSERT INTO counted (queue_id, running, done, done_total)
    VALUES (queue_id_, -cardinality(refs), CASE WHEN NOT forget_ THEN cardinality(refs) END,
        cardinality(refs));
    RETURN true;
END $$;
