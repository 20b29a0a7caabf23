-- Settle, then reserve: all that a dispatcher does under load.
--
--     exchange()  exchange_lock()                             the pools, the queues
--                 settle_acks()       settle_batch()          what most are
--                                     settle_plain()          of leases in no batch
--                 settle_others()     settle_many(), settle_one()
--                 reclaim_shares()                            leases that ran out
--                 share_allowance(), pick_share(), batch_add(), share_spent()    for each share
--                 exchange_end()                              rows of queue, and the bell
--
-- Functions are called for each batch and each share, never for each job. Only the statements that answer
-- jobs stand in exchange() itself: through another function every job would be copied once more.

-- ---- locks ----

-- The numbers of the queues, NULL for one that nobody has named yet, and whether leases of it ran out.
CREATE FUNCTION find_queues(names text[], over_ bigint, OUT queue_ids int[], OUT overdue boolean[])
LANGUAGE plpgsql AS $$
DECLARE
    q queue;
BEGIN
    FOR i IN 1..cardinality(names) LOOP
        SELECT * INTO q FROM queue WHERE name = names[i];
        IF NOT FOUND AND EXISTS (SELECT FROM queue_born WHERE name = names[i]) THEN
            PERFORM queues_enter(names);
            SELECT * INTO q FROM queue WHERE name = names[i];
        END IF;
        queue_ids[i] := q.queue_id;
        overdue[i] := q.next_expiry <= over_;
    END LOOP;
END $$;

CREATE FUNCTION lock_queues(queue_ids int[], alone boolean[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(queue_ids) > 1 THEN
        PERFORM queue_lock(u.id, coalesce(u.alone, false))
        FROM (SELECT v.id, bool_or(v.alone) AS alone FROM unnest(queue_ids, alone) v (id, alone)
            WHERE v.id IS NOT NULL GROUP BY v.id ORDER BY v.id) u;
    ELSIF queue_ids[1] IS NOT NULL THEN
        PERFORM queue_lock(queue_ids[1], coalesce(alone[1], false));
    END IF;
END $$;

-- The pool's heartbeat is about the same leases, so the pool comes first. Who only settles does not
-- say which one it is, but has one of its jobs. A queue with limits is ours alone, and so is one whose
-- leases ran out.
CREATE FUNCTION exchange_lock(pools text[], queues text[], over_ bigint, some_ref bigint,
    some_batch bytea, some_queue int, shares int[], runnings bigint[], rate_counts bigint[],
    OUT queue_ids int[], OUT alone boolean[])
LANGUAGE plpgsql AS $$
DECLARE
    found_ record;
BEGIN
    IF pools IS NOT NULL THEN
        PERFORM pools_lock(pools);
    ELSIF some_ref IS NOT NULL THEN
        PERFORM pool_lock(coalesce(
            (SELECT pool FROM batch WHERE queue_id = q.queue_id AND batch = some_batch),
            (SELECT pool FROM lease WHERE queue_id = q.queue_id AND seq = some_ref)))
        FROM queue q WHERE q.name = queues[some_queue];
    END IF;
    found_ := find_queues(queues, over_);
    queue_ids := found_.queue_ids;
    alone := found_.overdue;
    FOR i IN 1..coalesce(cardinality(shares), 0) LOOP
        IF runnings[i] > 0 OR rate_counts[i] > 0 THEN
            alone[shares[i]] := true;
        END IF;
    END LOOP;
    PERFORM lock_queues(queue_ids, alone);
END $$;

-- ---- settle ----

-- Acks of jobs of one queue without key, error, output or earlier runs, whose leases are in no batch. Each
-- lease is looked up by its key, whatever the statistics say. One that changes between the look and the
-- removal is raised as TH003. Answers the refs of those that were settled.
CREATE FUNCTION settle_plain(now_ bigint, queue_id_ int, forget_ boolean, refs bigint[],
    tokens bytea[], workers int[], starts bigint[], walls bigint[], users bigint[],
    systems bigint[], rss bigint[], exits int[])
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    removed bigint;
    settled bigint[];
BEGIN
    WITH done AS MATERIALIZED (
        SELECT s.ref, s.token, l.place, l.pool, coalesce(s.worker, l.worker) AS worker,
            coalesce(s.started_at, l.started_at) AS started_at, s.wall, s.user_time, s.system_time,
            s.max_rss_kb, s.exit_code
        FROM unnest(refs, tokens, workers, starts, walls, users, systems, rss, exits)
            s (ref, token, worker, started_at, wall, user_time, system_time, max_rss_kb, exit_code)
            CROSS JOIN LATERAL (SELECT ctid AS place, pool, worker, started_at FROM lease
                WHERE queue_id = queue_id_ AND seq = s.ref AND token = s.token
                    AND expires_at > now_ AND NOT traces OFFSET 0) l
    ), gone AS (
        DELETE FROM lease WHERE ctid = ANY (ARRAY(SELECT d.place FROM done d))
            AND expires_at > now_ AND NOT traces
        RETURNING 1
    ), kept AS (
        INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls,
            token, ended_by, pool, worker, started_at, wall, user_time, system_time, max_rss_kb,
            exit_code)
        SELECT d.ref, :JOB_DONE, false, queue_id_, now_, 1, 0, 0, d.token, :SETTLE_ACK, d.pool,
            d.worker, d.started_at, d.wall, d.user_time, d.system_time, d.max_rss_kb, d.exit_code
        FROM done d
        WHERE NOT forget_ AND (SELECT count(*) FROM gone) = (SELECT count(*) FROM done)
    )
    SELECT array_agg(d.ref), (SELECT count(*) FROM gone) INTO settled, removed FROM done d;
    IF removed <> coalesce(cardinality(settled), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'TH003', MESSAGE = 'a lease has changed meanwhile';
    END IF;
    IF removed > 0 THEN
        INSERT INTO counted (queue_id, running, done, done_total)
        VALUES (queue_id_, -removed, CASE WHEN NOT forget_ THEN removed END, removed);
    END IF;
    IF forget_ AND removed > 0 THEN
        DELETE FROM job WHERE seq = ANY (settled);
    END IF;
    RETURN coalesce(settled, '{}');
END $$;

-- An ack that was not as plain as it looked.
CREATE FUNCTION ack_spec(n_ int, id uuid, ref_ bigint, token_ bytea, forget_ boolean, worker_ int,
    start bigint, wall_ bigint, user_ bigint, system_ bigint, rss bigint, exit_ int)
RETURNS settlement_spec LANGUAGE plpgsql AS $$
DECLARE
    s settlement_spec;
BEGIN
    s.n := n_;
    s.job := id;
    s.ref := ref_;
    s.token := token_;
    s.kind := :SETTLE_ACK;
    s.counts := false;
    s.forget := forget_;
    s.has_run := wall_ IS NOT NULL;
    s.worker := worker_;
    s.started_at := start;
    s.wall := wall_;
    s.user_time := user_;
    s.system_time := system_;
    s.max_rss_kb := rss;
    s.exit_code := exit_;
    RETURN s;
END $$;

-- Plain acks in groups of one queue, one wish to forget and one batch or none, each from one number on. A
-- lease or a batch that somebody else has locked is raised as lock_not_available: then the caller takes the
-- long way, which costs nothing when nobody does. Answers the queues that have fewer leases now, and those
-- that are not settled yet.
CREATE FUNCTION settle_acks(over_ bigint, queue_ids int[], group_starts int[], group_queues int[],
    group_forgets boolean[], group_batches bytea[], group_lows int[], group_masks varbit[], ns int[], ids uuid[], refs bigint[], tokens bytea[], workers int[],
    starts bigint[], walls bigint[], users bigint[], systems bigint[], rss bigint[], exits int[],
    OUT vacated int[], OUT others settlement_spec[])
LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
DECLARE
    settled bigint[];
    queue_id_ int;
    first_ int;
    last_ int;
BEGIN
    vacated := '{}';
    others := '{}';
    FOR g IN 1..cardinality(group_starts) LOOP
        first_ := group_starts[g];
        last_ := coalesce(group_starts[g + 1] - 1, cardinality(refs));
        queue_id_ := queue_ids[group_queues[g]];
        IF queue_id_ IS NULL THEN
            settled := '{}';
        ELSIF group_batches[g] IS NOT NULL AND settle_batch(over_, queue_id_, group_forgets[g],
            group_batches[g], group_lows[g], group_masks[g], refs[first_:last_],
            tokens[first_:last_], workers[first_:last_], starts[first_:last_], walls[first_:last_],
            users[first_:last_], systems[first_:last_], rss[first_:last_], exits[first_:last_])
        THEN
            vacated := vacated || queue_id_;
            CONTINUE;
        ELSE
            settled := settle_plain(over_, queue_id_, group_forgets[g], refs[first_:last_],
                tokens[first_:last_], workers[first_:last_], starts[first_:last_],
                walls[first_:last_], users[first_:last_], systems[first_:last_],
                rss[first_:last_], exits[first_:last_]);
        END IF;
        IF cardinality(settled) > 0 THEN
            vacated := vacated || queue_id_;
        END IF;
        CONTINUE WHEN cardinality(settled) = last_ - first_ + 1;
        FOR i IN first_..last_ LOOP
            IF refs[i] <> ALL (settled) THEN
                others := others || ack_spec(ns[i], ids[i], refs[i], tokens[i], group_forgets[g],
                    workers[i], starts[i], walls[i], users[i], systems[i], rss[i], exits[i]);
            END IF;
        END LOOP;
    END LOOP;
END $$;

-- Answers those that are refused.
CREATE FUNCTION settle_others(specs settlement_spec[], over_ bigint) RETURNS SETOF exchanged
LANGUAGE plpgsql AS $$
DECLARE
    done_ int[] := '{}';
    s settlement_spec;
    verdict int;
BEGIN
    PERFORM unpack(array_agg(j.queue_id), array_agg(u.token))
    FROM unnest(specs) u CROSS JOIN LATERAL (SELECT queue_id FROM job
        WHERE seq = seq_by_ref(u.ref, u.job) OFFSET 0) j;
    IF cardinality(specs) > 1 THEN
        done_ := settle_many(specs, over_);
    END IF;
    FOREACH s IN ARRAY specs LOOP
        CONTINUE WHEN s.n = ANY (done_);
        verdict := settle_one(s, over_);
        IF verdict <> :TH_OK THEN
            RETURN NEXT exchanged_row(:ROW_VERDICT, s.n, verdict, NULL);
        END IF;
    END LOOP;
END $$;

-- ---- what is given ----

-- How long the shortest lease is of these places, when each is as long as its job may run.
CREATE FUNCTION shortest_run(places tid[], default_ bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT min(coalesce(nullif(j.timeout, 0), default_))
        FROM ready r CROSS JOIN LATERAL (SELECT timeout FROM job WHERE seq = r.seq OFFSET 0) j
        WHERE r.ctid = ANY (places));
END $$;

-- ---- the end ----

-- Rows of queue: at the end, and all that change in one order, because others may do the same. Answers
-- whether jobs have come back.
CREATE FUNCTION exchange_end(vacated int[], full_ int[], expiries int[], expiry bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    came_back boolean;
BEGIN
    IF cardinality(vacated) > 0 THEN
        vacated := ARRAY(SELECT queue_id FROM queue WHERE queue_id = ANY (vacated)
            AND queue_id <> ALL (full_) AND awaited);
    END IF;
    IF cardinality(expiries) + cardinality(vacated) > 1 THEN
        PERFORM FROM queue WHERE queue_id = ANY (expiries || vacated)
        ORDER BY queue_id FOR NO KEY UPDATE;
    END IF;
    IF cardinality(expiries) > 0 THEN
        UPDATE queue SET next_expiry = expiry WHERE queue_id = ANY (expiries)
            AND (next_expiry IS NULL OR next_expiry > expiry);
    END IF;
    came_back := has_rung();
    IF cardinality(vacated) > 0 THEN
        PERFORM announce_room(vacated);
    END IF;
    RETURN came_back;
END $$;

-- ---- the whole ----

CREATE FUNCTION exchange(now_ bigint, queues text[],
    -- plain acks: settle_acks()
    group_starts int[], group_queues int[], group_forgets boolean[], group_batches bytea[],
    group_lows int[], group_masks varbit[], ns int[], ids uuid[], refs bigint[], tokens bytea[], workers int[], starts bigint[], walls bigint[], users bigint[],
    systems bigint[], rss bigint[], exits int[],
    -- other settlements: settlement_spec
    items json,
    -- what is wanted: of each reservation its pool, batch token, lease (0: as long as the job may run, and
    -- lead, or lease_defaults of one that may for ever), how many in all, which of types_; batch_min for all
    pools text[], batches bytea[], batch_min bigint, leases bigint[], lease_defaults bigint[], lead bigint,
    totals bigint[], types_ text[], type_firsts int[], type_lasts int[],
    -- of each share its reservation, its queue, by its number in queues, and its limits
    owners int[], shares int[], maxes bigint[], runnings bigint[], rate_counts bigint[], rate_periods bigint[],
    -- from where on to look for it: pick_share()
    segment_shares int[], segment_priorities int[], segment_dues bigint[], segment_seqs bigint[],
    segment_ends int[], looks boolean[],
    clocked boolean)
RETURNS SETOF exchanged LANGUAGE plpgsql AS $$
DECLARE
    over_ bigint := over_at(now_, clocked); -- what is settled or taken back is so by this
    queue_ids int[];
    alone boolean[];
    vacated int[] := '{}';
    reclaimed int[] := '{}';
    full_ int[] := '{}';
    expiries int[] := '{}';
    specs settlement_spec[] := '{}';
    refused bigint;
    owner int; -- the reservation, and what it says
    pool_ text;
    batch_ bytea;
    lease_ bigint;
    left_ bigint; -- of its total; NULL: it has none
    wanted_types text[];
    number int; -- of its next lease
    ends_at bigint;
    soonest bigint; -- end of all leases
    q queue;
    limits allowance;
    locked record;
    share record;
    got picked;
    taken bigint;
    answered bigint;
    leased_ bigint;
    came_back boolean;
BEGIN
    locked := exchange_lock(pools, queues, over_, refs[1], group_batches[1], group_queues[1], shares,
        runnings, rate_counts);
    queue_ids := locked.queue_ids;
    alone := locked.alone;

    IF cardinality(refs) > 0 THEN
        SELECT s.vacated, s.others INTO vacated, specs FROM settle_acks(over_, queue_ids,
            group_starts, group_queues, group_forgets, group_batches, group_lows, group_masks, ns,
            ids, refs, tokens, workers, starts, walls, users, systems, rss, exits) s;
    END IF;
    IF items IS NOT NULL THEN
        specs := specs || ARRAY(SELECT i FROM json_populate_recordset(NULL::settlement_spec, items) i);
    END IF;
    IF cardinality(specs) > 0 THEN
        RETURN QUERY SELECT * FROM settle_others(specs, over_);
        GET DIAGNOSTICS refused = ROW_COUNT;
        IF refused < cardinality(specs) THEN
            vacated := queue_ids;
        END IF;
    END IF;

    IF cardinality(shares) > 0 THEN
        PERFORM take_turn(pools[1]);
        reclaimed := reclaim_shares(queue_ids, alone, shares, maxes, over_);
        vacated := vacated || reclaimed;
    END IF;
    FOR i IN 1..coalesce(cardinality(shares), 0) LOOP
        IF owner IS DISTINCT FROM owners[i] THEN
            owner := owners[i];
            pool_ := pools[owner];
            batch_ := batches[owner];
            lease_ := leases[owner];
            left_ := totals[owner];
            wanted_types := CASE WHEN type_firsts[owner] > 0
                THEN types_[type_firsts[owner]:type_lasts[owner]] END;
            number := 0;
        END IF;
        CONTINUE WHEN queue_ids[shares[i]] IS NULL OR maxes[i] = 0 OR left_ = 0;
        SELECT * INTO q FROM queue WHERE queue_id = queue_ids[shares[i]];
        CONTINUE WHEN q.paused_at IS NOT NULL;
        limits := NULL;
        limits.most := least(maxes[i], left_);
        IF runnings[i] > 0 OR rate_counts[i] > 0 THEN
            limits := share_allowance(q, limits.most, runnings[i], rate_counts[i], rate_periods[i], now_);
        END IF;

        taken := 0;
        IF limits.most > 0 THEN
            share := pick_share(q.queue_id, i, limits.most, wanted_types, looks[i],
                NOT (has_rung() OR q.queue_id = ANY (reclaimed)), segment_shares,
                segment_priorities, segment_dues, segment_seqs, segment_ends);
            got := share.all_;
            taken := picked_count(got);
            IF share.looked IS NOT NULL THEN
                RETURN NEXT exchanged_row(:ROW_LOOKED, i, (taken < limits.most)::int, share.looked);
            END IF;
        END IF;
        leased_ := 0;
        left_ := left_ - taken;
        IF taken > 0 THEN
            ends_at := now_ + CASE WHEN lease_ > 0 THEN lease_
                ELSE lead + shortest_run(got.traced || got.plain, lease_defaults[owner]) END;
            soonest := least(soonest, ends_at);
        END IF;
        -- What was picked moves from `ready` to a batch, or to `lease`, each with a token of its own; the
        -- client puts the jobs in order. Each is looked up by its key, whatever the statistics say.
        IF taken > 0 AND coalesce(cardinality(got.plain), 0) >= batch_min AND lease_ > 0
            AND batch_add(q.queue_id, batch_, number, got.seqs, pool_, now_, lease_)
        THEN
            DELETE FROM ready r WHERE r.ctid = ANY (got.plain);
            RETURN QUERY
            SELECT :ROW_JOB::smallint, number + m.n::int - 1, i, -j.seq, j.id, j.type,
                j.encoding, j.priority, j.due, j.run_at, j.timeout, j.max_attempts, j.max_stalls,
                j.attempts, j.stalls, j.executions, j.created_at, j.key, j.update_flags,
                j.idempotency_key, j.payload, j.headers, j.tags
            FROM unnest(got.seqs) WITH ORDINALITY m (seq, n)
                CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = m.seq OFFSET 0) j;
            leased_ := cardinality(got.seqs);
            number := number + leased_;
        ELSIF taken > 0 THEN
            got.traced := got.traced || got.plain;
        END IF;
        IF leased_ < taken THEN
            IF got.keyed THEN
                PERFORM mark_running(q.queue_id, got.traced);
            END IF;
            RETURN QUERY
            WITH gone AS (
                DELETE FROM ready r WHERE r.ctid = ANY (got.traced)
                RETURNING r.seq, r.priority, r.due, r.traces
            ), numbered AS MATERIALIZED (
                SELECT g.seq, g.priority, g.due, g.traces, j.id, j.type, j.encoding, j.run_at, j.timeout,
                    j.max_attempts, j.max_stalls, j.attempts, j.stalls, j.executions, j.created_at, j.key,
                    j.update_flags, j.idempotency_key, j.payload, j.headers, j.tags,
                    (row_number() OVER ())::int + number - 1 AS nth
                FROM gone g CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = g.seq OFFSET 0) j
            ), leased AS (
                INSERT INTO lease (queue_id, seq, execution, token, expires_at, pool, started_at, traces)
                SELECT q.queue_id, m.seq, m.executions + 1, batch_ || int4send(m.nth),
                    now_ + CASE WHEN lease_ > 0 THEN lease_
                        ELSE lead + coalesce(nullif(m.timeout, 0), lease_defaults[owner]) END,
                    pool_, now_, m.traces
                FROM numbered m
            )
            SELECT :ROW_JOB::smallint, m.nth, i, m.seq, m.id, m.type, m.encoding, m.priority, m.due,
                m.run_at, m.timeout, m.max_attempts, m.max_stalls, m.attempts, m.stalls, m.executions,
                m.created_at, m.key, m.update_flags, m.idempotency_key, m.payload, m.headers, m.tags
            FROM numbered m;
            GET DIAGNOSTICS answered = ROW_COUNT;
            leased_ := leased_ + answered;
            number := number + cardinality(got.traced);
        END IF;
        IF taken > 0 THEN
            INSERT INTO counted (queue_id, ready, running) VALUES (q.queue_id, -taken, leased_);
            IF q.next_expiry IS NULL OR q.next_expiry > ends_at THEN
                expiries := expiries || q.queue_id;
            END IF;
        END IF;

        IF runnings[i] > 0 OR rate_counts[i] > 0 THEN
            IF runnings[i] > 0 AND limits.room = taken THEN
                full_ := full_ || q.queue_id;
            END IF;
            RETURN QUERY SELECT * FROM share_spent(q.queue_id, i, limits, taken, maxes[i],
                rate_counts[i], rate_periods[i], now_);
        END IF;
    END LOOP;

    came_back := exchange_end(vacated, full_, expiries, soonest);
    IF has_rung() THEN
        RETURN NEXT exchanged_row(:ROW_BELL, 0, came_back::int, NULL);
    END IF;
END $$;
