-- Settle, then reserve: all that a dispatcher does under load.

-- Acks of jobs of one queue without key, error, output or earlier runs. Each lease is looked up by its
-- key, whatever the statistics say. One that changes between the look and the removal is raised as
-- TH003, one that somebody else has locked as lock_not_available: then the caller takes the long way,
-- which costs nothing when nobody does. Answers the refs of those that were settled.
CREATE FUNCTION settle_plain(now_ bigint, queue_id_ int, forget_ boolean, refs bigint[],
    tokens bytea[], workers int[], starts bigint[], walls bigint[], users bigint[],
    systems bigint[], rss bigint[], exits int[])
RETURNS bigint[] LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
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
            token, ended_by, pool, worker, started_at, wall, user_time, system_time, max_rss_kb, exit_code)
        SELECT d.ref, 5, false, queue_id_, now_, 1, 0, 0, d.token, 0, d.pool, d.worker, d.started_at,
            d.wall, d.user_time, d.system_time, d.max_rss_kb, d.exit_code
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

-- The plain acks come in groups of one queue and one wish to forget, from one number on each.
CREATE FUNCTION exchange(now_ bigint, queues text[], group_starts int[], group_queues int[],
    group_forgets boolean[], ns int[], ids uuid[], refs bigint[], tokens bytea[],
    workers int[], starts bigint[], walls bigint[], users bigint[], systems bigint[], rss bigint[],
    exits int[], items json,
    pool_ text, batch bytea, lease_for bigint, shares int[], maxes bigint[], runnings bigint[],
    rate_counts bigint[], rate_periods bigint[], types_ text[], segment_shares int[],
    segment_priorities int[], segment_dues bigint[], segment_seqs bigint[], segment_ends int[],
    looks boolean[], clocked boolean)
RETURNS SETOF exchanged LANGUAGE plpgsql AS $$
DECLARE
    over_ bigint := over_at(now_, clocked); -- what is settled or taken back is so by this
    queue_ids int[];
    alone boolean[];
    unknown text[];
    vacated int[] := '{}';
    full_ int[] := '{}';
    settled bigint[];
    left_over int[] := '{}';
    left_forgets boolean[] := '{}';
    n_ int;
    queue_id_ int;
    first_ int;
    last_ int;
    s settlement_spec;
    specs settlement_spec[] := '{}';
    done_ int[];
    code_ int;
    number int := 0;
    q queue;
    max_ bigint;
    room bigint;
    ahead bigint;
    allowed bigint;
    taken bigint;
    leased_ bigint;
    picked record;
    places tid[];
    keyed_ boolean;
    some_segments boolean; -- what came back with this very exchange may be before them
    below boolean;
    expiries int[] := '{}';
BEGIN
    -- The pool's heartbeat is about the same leases. Who only settles does not say which pool it is.
    IF pool_ IS NOT NULL THEN
        PERFORM pool_lock(pool_);
    ELSIF cardinality(refs) > 0 THEN
        PERFORM pool_lock(l.pool) FROM lease l WHERE l.seq = refs[1]
            AND l.queue_id = (SELECT queue_id FROM queue WHERE name = queues[group_queues[1]]);
    END IF;
    LOOP
        SELECT array_agg(found.queue_id ORDER BY u.n), array_agg(found.next_expiry <= over_ ORDER BY u.n),
            array_agg(u.name) FILTER (WHERE found.queue_id IS NULL)
        INTO queue_ids, alone, unknown
        FROM unnest(queues) WITH ORDINALITY u (name, n) LEFT JOIN queue found ON found.name = u.name;
        EXIT WHEN unknown IS NULL OR NOT EXISTS (SELECT FROM queue_born WHERE name = ANY (unknown));
        PERFORM queues_enter(unknown);
    END LOOP;
    FOR i IN 1..coalesce(cardinality(shares), 0) LOOP
        IF runnings[i] > 0 OR rate_counts[i] > 0 THEN
            alone[shares[i]] := true;
        END IF;
    END LOOP;
    IF cardinality(queues) = 1 THEN
        IF queue_ids[1] IS NOT NULL THEN
            PERFORM queue_lock(queue_ids[1], coalesce(alone[1], false));
        END IF;
    ELSE
        PERFORM queue_lock(u.id, coalesce(u.alone, false))
        FROM (SELECT v.id, bool_or(v.alone) AS alone FROM unnest(queue_ids, alone) v (id, alone)
            WHERE v.id IS NOT NULL GROUP BY v.id ORDER BY v.id) u;
    END IF;

    FOR g IN 1..cardinality(group_starts) LOOP
        first_ := group_starts[g];
        last_ := coalesce(group_starts[g + 1] - 1, cardinality(refs));
        queue_id_ := queue_ids[group_queues[g]];
        IF queue_id_ IS NULL THEN
            settled := '{}';
        ELSIF cardinality(group_starts) = 1 THEN
            settled := settle_plain(over_, queue_id_, group_forgets[1], refs, tokens, workers,
                starts, walls, users, systems, rss, exits);
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
                left_over := left_over || i;
                left_forgets := left_forgets || group_forgets[g];
            END IF;
        END LOOP;
    END LOOP;

    FOR k IN 1..cardinality(left_over) LOOP
        n_ := left_over[k];
        s := NULL;
        s.n := ns[n_];
        s.job := ids[n_];
        s.ref := refs[n_];
        s.token := tokens[n_];
        s.kind := 0;
        s.counts := false;
        s.forget := left_forgets[k];
        s.has_run := walls[n_] IS NOT NULL;
        s.worker := workers[n_];
        s.started_at := starts[n_];
        s.wall := walls[n_];
        s.user_time := users[n_];
        s.system_time := systems[n_];
        s.max_rss_kb := rss[n_];
        s.exit_code := exits[n_];
        specs := specs || s;
    END LOOP;
    IF items IS NOT NULL THEN
        specs := specs || ARRAY(SELECT i FROM json_populate_recordset(NULL::settlement_spec, items) i);
    END IF;
    IF cardinality(specs) > 0 THEN
        done_ := CASE WHEN cardinality(specs) > 1 THEN settle_many(specs, over_) ELSE '{}' END;
        IF cardinality(done_) > 0 THEN
            vacated := queue_ids;
        END IF;
        FOREACH s IN ARRAY specs LOOP
            CONTINUE WHEN s.n = ANY (done_);
            code_ := settle_one(s, over_);
            IF code_ <> 0 THEN
                RETURN NEXT (0, s.n, code_, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::exchanged;
            ELSE
                vacated := queue_ids;
            END IF;
        END LOOP;
    END IF;

    IF cardinality(shares) > 0 THEN
        PERFORM take_turn(pool_);
    END IF;
    FOR i IN 1..coalesce(cardinality(shares), 0) LOOP
        CONTINUE WHEN queue_ids[shares[i]] IS NULL OR maxes[i] = 0;
        SELECT * INTO q FROM queue WHERE queue_id = queue_ids[shares[i]];
        IF q.next_expiry <= over_ AND alone[shares[i]] THEN
            PERFORM reclaim_queue(q.queue_id, over_, 1000);
            vacated := vacated || q.queue_id;
            SELECT * INTO q FROM queue WHERE queue_id = q.queue_id;
            some_segments := false;
        ELSE
            some_segments := NOT has_rung();
        END IF;
        CONTINUE WHEN q.paused_at IS NOT NULL;

        max_ := maxes[i];
        room := NULL;
        allowed := NULL;
        IF rate_counts[i] > 0 THEN
            ahead := rate_ahead(rate_counts[i], rate_periods[i], q.spent_until, now_);
            allowed := rate_allows(rate_counts[i], rate_periods[i], ahead);
            max_ := least(max_, allowed);
        END IF;
        IF runnings[i] > 0 THEN
            SELECT greatest(0, runnings[i] - count(*)) INTO room
            FROM (SELECT FROM lease WHERE queue_id = q.queue_id LIMIT runnings[i]) live;
            max_ := least(max_, room);
        END IF;

        places := '{}';
        keyed_ := false;
        IF max_ > 0 THEN
            IF some_segments THEN
                FOR k IN 1..coalesce(cardinality(segment_shares), 0) LOOP
                    CONTINUE WHEN segment_shares[k] <> i;
                    EXIT WHEN cardinality(places) >= max_;
                    SELECT * INTO picked FROM pick(q.queue_id, segment_priorities[k],
                        segment_dues[k], segment_seqs[k], segment_ends[k],
                        max_ - cardinality(places), types_);
                    places := places || picked.places;
                    keyed_ := keyed_ OR coalesce(picked.keyed_, false);
                END LOOP;
            END IF;
            -- From the head: nothing is known, or less than asked for was found.
            IF cardinality(places) = 0 OR (looks[i] AND cardinality(places) < max_) THEN
                SELECT * INTO picked FROM pick(q.queue_id, -1, 0, 0, 32767, max_, types_);
                places := coalesce(picked.places, '{}');
                keyed_ := coalesce(picked.keyed_, false);
                RETURN NEXT (4, i, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL)::exchanged;
            END IF;
        END IF;
        taken := cardinality(places);
        IF taken > 0 THEN
            IF keyed_ THEN
                PERFORM mark_running(q.queue_id, places);
            END IF;
            -- What was picked moves from `ready` to `lease`, each with a token of its own; the client
            -- puts the jobs in order. Each is looked up by its key, whatever the statistics say.
            RETURN QUERY
            WITH gone AS (
                DELETE FROM ready r WHERE r.ctid = ANY (places)
                RETURNING r.seq, r.priority, r.due, r.traces
            ), numbered AS MATERIALIZED (
                SELECT g.seq, g.priority, g.due, g.traces, j.id, j.type, j.encoding, j.run_at, j.timeout,
                    j.max_attempts, j.max_stalls, j.attempts, j.stalls, j.executions, j.created_at, j.key,
                    j.update_flags, j.idempotency_key, j.payload,
                    (row_number() OVER ())::int + number - 1 AS nth
                FROM gone g CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = g.seq OFFSET 0) j
            ), leased AS (
                INSERT INTO lease (queue_id, seq, execution, token, expires_at, pool, started_at, traces)
                SELECT q.queue_id, m.seq, m.executions + 1, batch || int4send(m.nth), now_ + lease_for,
                    pool_, now_, m.traces
                FROM numbered m
            )
            SELECT 1::smallint, m.nth, i, m.seq, m.id, m.type, m.encoding, m.priority, m.due,
                m.run_at, m.timeout, m.max_attempts, m.max_stalls, m.attempts, m.stalls, m.executions,
                m.created_at, m.key, m.update_flags, m.idempotency_key, m.payload
            FROM numbered m;
            GET DIAGNOSTICS leased_ = ROW_COUNT;
            INSERT INTO counted (queue_id, ready, running) VALUES (q.queue_id, -taken, leased_);
            number := number + taken;
            IF q.next_expiry IS NULL OR q.next_expiry > now_ + lease_for THEN
                expiries := expiries || q.queue_id;
            END IF;
        END IF;

        IF allowed IS NOT NULL AND taken > 0 THEN
            ahead := ahead + rate_cost(rate_counts[i], rate_periods[i], taken);
            allowed := allowed - taken;
            UPDATE queue SET spent_until = now_ + ahead WHERE queue_id = q.queue_id;
        END IF;
        IF room IS NOT NULL THEN
            room := room - taken;
            IF room = 0 THEN
                full_ := full_ || q.queue_id;
            END IF;
        END IF;
        IF taken < maxes[i] AND (room = 0 OR allowed = 0) THEN
            PERFORM FROM ready WHERE queue_id = q.queue_id LIMIT 1;
            IF FOUND THEN
                RETURN NEXT (2, i, coalesce(room = 0, false)::int, NULL, NULL, NULL, NULL, NULL,
                    CASE WHEN allowed = 0
                        THEN rate_next(rate_counts[i], rate_periods[i], ahead, now_) END,
                    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL)::exchanged;
                IF room = 0 THEN
                    UPDATE queue SET awaited = true WHERE queue_id = q.queue_id AND NOT awaited;
                END IF;
            END IF;
        END IF;
    END LOOP;

    -- At the end, and all that change in one order, because others may do the same.
    IF cardinality(vacated) > 0 THEN
        vacated := ARRAY(SELECT queue_id FROM queue WHERE queue_id = ANY (vacated)
            AND queue_id <> ALL (full_) AND awaited);
    END IF;
    IF cardinality(expiries) + cardinality(vacated) > 1 THEN
        PERFORM FROM queue WHERE queue_id = ANY (expiries || vacated)
        ORDER BY queue_id FOR NO KEY UPDATE;
    END IF;
    IF cardinality(expiries) > 0 THEN
        UPDATE queue SET next_expiry = now_ + lease_for WHERE queue_id = ANY (expiries)
            AND (next_expiry IS NULL OR next_expiry > now_ + lease_for);
    END IF;
    below := has_rung();
    IF cardinality(vacated) > 0 THEN
        PERFORM announce_room(vacated);
    END IF;
    IF has_rung() THEN
        RETURN NEXT (3, 0, below::int, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL)::exchanged;
    END IF;
END $$;
