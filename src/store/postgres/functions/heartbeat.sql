-- Pools say that they live, and extend what they hold; who watches says so.

-- The beat of the pool with this number. Answers a row with its negative, which says by its verdict whether
-- the pool is registered.
CREATE FUNCTION pool_beat(number int, name_ text, status_ bytea, now_ bigint)
RETURNS TABLE (n int, verdict int, cancel boolean, watched boolean, want int, wanted_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    p pool;
BEGIN
    UPDATE pool SET beat_at = now_, status = coalesce(status_, status) WHERE name = name_
    RETURNING * INTO p;
    RETURN QUERY SELECT -number, CASE WHEN p.name IS NULL THEN :TH_E_NOT_FOUND ELSE :TH_OK END, false,
        EXISTS (SELECT FROM watch WHERE id = '00000000-0000-0000-0000-000000000000' AND until > now_),
        p.want::int, p.wanted_at;
END $$;

-- Answers, behind the pools, only the leases that have something to tell: a verdict that is not ok, a wish
-- to cancel, somebody who watches. A lease that somebody else has locked now is unavailable: it is
-- extended by the next one. One that is extended leaves its batch, for the others may end by then.
CREATE FUNCTION heartbeat(pools text[], statuses bytea[], now_ bigint, queues text[],
    ids uuid[], refs bigint[], tokens bytea[], leases bigint[], workers int[], percents int[],
    texts bytea[], outputs bytea[], clocked boolean)
RETURNS TABLE (n int, verdict int, cancel boolean, watched boolean, want int, wanted_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    over_ bigint := over_at(now_, clocked);
    seqs bigint[];
    queue_ids int[];
    extended int[];
    cancelled int[];
    watched_ int[];
    told int[];
    told_seqs bigint[];
    soonest bigint; -- end of those that are extended
    p record;
BEGIN
    IF cardinality(ids) > 0 THEN
        PERFORM pools_lock(pools);
        PERFORM queue_lock(queue_id, false)
        FROM (SELECT queue_id FROM queue WHERE name = ANY (queues) ORDER BY queue_id) q;
    END IF;
    FOR p IN SELECT * FROM unnest(pools, statuses) WITH ORDINALITY u (name, status, number)
        ORDER BY u.name
    LOOP
        RETURN QUERY SELECT * FROM pool_beat(p.number::int, p.name, p.status, now_);
    END LOOP;
    IF EXISTS (SELECT FROM to_cancel) THEN
        PERFORM carry_out_cancels(now_);
    END IF;
    IF cardinality(ids) = 0 THEN
        RETURN;
    END IF;

    SELECT array_agg(j.seq ORDER BY g.n), array_agg(j.queue_id ORDER BY g.n) INTO seqs, queue_ids
    FROM unnest(ids, refs) WITH ORDINALITY g (id, ref, n)
        LEFT JOIN LATERAL (SELECT queue_id, seq FROM job
            WHERE seq = seq_by_ref(g.ref, g.id) OFFSET 0) j ON true;
    PERFORM unpack(queue_ids, tokens);
    WITH beat AS MATERIALIZED (
        SELECT g.n::int AS n, g.queue_id, g.seq, g.token, g.lease_for, g.worker,
            g.percent IS NOT NULL OR g.output IS NOT NULL AS told
        FROM unnest(queue_ids, seqs, tokens, leases, workers, percents, outputs)
            WITH ORDINALITY g (queue_id, seq, token, lease_for, worker, percent, output, n)
    ), locked AS MATERIALIZED (
        SELECT b.* FROM beat b CROSS JOIN LATERAL (
            SELECT FROM lease
            WHERE queue_id = b.queue_id AND seq = b.seq AND token = b.token AND expires_at > over_
            FOR NO KEY UPDATE SKIP LOCKED) l
    ), moved AS (
        UPDATE lease l SET expires_at = now_ + k.lease_for, worker = coalesce(k.worker, l.worker),
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
    RETURN QUERY SELECT e, :TH_OK, coalesce(e = ANY (cancelled), false), e = ANY (watched_),
        NULL::int, NULL::bigint
    FROM unnest(extended) e WHERE e = ANY (cancelled) OR e = ANY (watched_);
    IF cardinality(extended) < cardinality(ids) THEN
        RETURN QUERY SELECT g.n::int, coalesce(nullif(lease_check(
            standing_of(seqs[g.n]), tokens[g.n], over_), :TH_OK),
            :TH_E_UNAVAILABLE), false, false, NULL::int, NULL::bigint
        FROM generate_subscripts(ids, 1) g (n) WHERE g.n <> ALL (extended);
    END IF;

    -- Leases may now be shorter than they were: no queue may expect its next expiry later.
    soonest := now_ + (SELECT min(l) FROM unnest(leases) l);
    PERFORM FROM queue WHERE name = ANY (queues) AND next_expiry > soonest
    ORDER BY queue_id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE queue SET next_expiry = soonest WHERE name = ANY (queues) AND next_expiry > soonest;
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
