-- The pieces that changes of state are made of.
--
-- Locks are taken in one order by everybody, and what stands in one line in the order of the numbers or
-- names in brackets:
--
--     1  the pool             advisory   exchange, settle, heartbeat, held
--     2  new rows of queue    unique     exchange, prune, set_paused (name)
--     3  queues               advisory   exchange, heartbeat, reclaim (number)
--     4  a turn to pick       advisory   exchange
--     5  keys                 row        (queue, key)
--     6  idempotency records  row        (queue, key)
--     7  where jobs stand     row        ready, aside, waiting, lease, ended (seq)
--     8  the jobs themselves, detail, run: only by who has 7
--     9  rows of queue        row        at the end (number); before, only by who has 3 alone
--
-- pool and cron have one row for each call, which comes after 4. Rows of tally (number) are for who adds up
-- counts, and holds nothing then that anybody waits for.
--
-- A pool waits for 1 to 4 and 9, which only pools hold, and people for a moment. What producers hold
-- as long as their own transactions last (5 to 8) it never waits for: what it cannot have at once it
-- leaves, says so, and tries again later. So nobody's open transaction stops a pool, and no pool is
-- part of a deadlock. Producers and people wait for 5 to 8. Who enqueues several keys in
-- transactions of their own has to keep an order as well; so do two calls that bring the same new ids.

-- ---- advisory locks ----

-- What is locked: 0 the bell (0 by who sleeps, 1 by who produces), 1 a queue, 2 a pool, 3 a turn, 4
-- retention, which only is tried. None of them can be found out without lock_space.
CREATE FUNCTION lock_class(what int) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT base + what FROM lock_space;
$$;

-- Whoever adds or ends leases of a queue has it locked, shared; alone is who counts them all, or
-- makes next_expiry exact: nobody else's leases are out of sight then.
CREATE FUNCTION queue_lock(queue_id_ int, alone boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(1);
BEGIN
    IF alone THEN
        PERFORM pg_advisory_xact_lock(class, queue_id_);
    ELSIF NOT pg_try_advisory_xact_lock_shared(class, queue_id_) THEN
        PERFORM pg_advisory_xact_lock_shared(class, queue_id_);
    END IF;
END $$;

-- One exchange, heartbeat or look at what is held of a pool at a time.
CREATE FUNCTION pool_lock(pool_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock_class(2), hashtext(pool_));
END $$;

-- Whoever picks steps over what others have picked and not yet committed, row by row, and that is
-- slow: of a hundred pools at once each did little else. So eight pick at a time. Who has a turn
-- has all other advisory locks already, so nobody's turn is longer than its own work and its commit.
CREATE FUNCTION take_turn(pool_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(3);
    mine int := hashtext(pool_) & 7;
BEGIN
    FOR i IN 0..7 LOOP
        IF pg_try_advisory_xact_lock(class, (mine + i) & 7) THEN
            RETURN;
        END IF;
    END LOOP;
    PERFORM pg_advisory_xact_lock(class, mine);
END $$;

-- ---- queues ----

-- NULL when nobody has named it yet.
CREATE FUNCTION queue_of(name_ text) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT queue_id FROM queue WHERE name = name_),
        (SELECT min(queue_id) FROM queue_born WHERE name = name_));
$$;

-- The queue's number, for whoever enqueues. A new queue gets one that its name alone decides, so two
-- transactions that do not see each other agree on it; only a number that is another queue's already
-- is passed over.
CREATE FUNCTION queue_make(name_ text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    number int;
BEGIN
    SELECT queue_id INTO number FROM queue WHERE name = name_;
    IF FOUND THEN
        RETURN number;
    END IF;
    number := queue_of(name_);
    IF number IS NOT NULL THEN
        RETURN number;
    END IF;
    number := hashtext(name_);
    WHILE EXISTS (SELECT FROM queue_name q WHERE q.queue_id = number AND q.name <> name_) LOOP
        number := CASE WHEN number = 2147483647 THEN 0 ELSE number + 1 END;
    END LOOP;
    INSERT INTO queue_born (queue_id, name) VALUES (number, name_);
    RETURN number;
END $$;

-- Those of them that somebody has named become rows of `queue`. For short transactions only.
CREATE FUNCTION queues_enter(names text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO queue (queue_id, name)
    SELECT DISTINCT b.queue_id, b.name FROM queue_born b WHERE b.name = ANY (names) ORDER BY b.name
    ON CONFLICT DO NOTHING;
$$;

-- Something became reservable: whoever sleeps has to be woken when this is committed.
CREATE FUNCTION ring_later() RETURNS void LANGUAGE sql AS $$
    SELECT set_config('taskharbor.ring', 'yes', true);
$$;

CREATE FUNCTION has_rung() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('taskharbor.ring', true), '') = 'yes';
$$;

-- Wakes whoever sleeps; called after the commit. A sleeper holds this lock, shared.
CREATE FUNCTION ring() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_lock(lock_class(0), 0) THEN
        PERFORM pg_advisory_unlock(lock_class(0), 0);
    ELSE
        PERFORM pg_notify('taskharbor_' || 'queue'::regclass::oid, '');
    END IF;
END $$;

-- Wakes whoever sleeps, inside of a transaction of somebody else's. NOTIFY makes all who use it commit
-- one after the other, so it is done only when somebody sleeps by now. Who does not sleep yet, and
-- does before the commit, would not hear of it: that is what our second lock is for, which is
-- held to the end of the transaction. is_producing() tells it to whoever goes to sleep.
CREATE FUNCTION ring_with_commit() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF pg_try_advisory_xact_lock_shared(lock_class(0), 1)
        AND pg_try_advisory_lock(lock_class(0), 0)
    THEN
        PERFORM pg_advisory_unlock(lock_class(0), 0);
    ELSE
        PERFORM pg_notify('taskharbor_' || 'queue'::regclass::oid, '');
    END IF;
END $$;

-- Whether a transaction may be open that has made something ready and does not ring. One that is not
-- is committed and can be seen.
CREATE FUNCTION is_producing() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_lock(lock_class(0), 1) THEN
        RETURN true;
    END IF;
    PERFORM pg_advisory_unlock(lock_class(0), 1);
    RETURN false;
END $$;

-- Goes to sleep: from here on everybody rings but who began to produce before. One who has just had
-- jobs of producers that go on would have them all ring: it may rather look again by itself. Such a
-- one says patience 1 (not if somebody produces) or 2 (not yet, in any case).
CREATE FUNCTION arm(patience int, OUT armed boolean, OUT producing boolean) LANGUAGE plpgsql AS $$
BEGIN
    producing := is_producing();
    armed := patience = 0 OR (patience = 1 AND NOT producing);
    IF armed THEN
        PERFORM pg_advisory_lock_shared(lock_class(0), 0);
        producing := is_producing();
    END IF;
END $$;

-- ---- where a job stands ----

CREATE TYPE standing AS (
    seq bigint, id uuid, queue_id int, type text, priority smallint, due bigint, run_at bigint,
    timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int, key text,
    update_flags smallint, state smallint, executions bigint, token bytea, expires_at bigint,
    pool text, worker int, started_at bigint, cancel_requested_at bigint, ended_by smallint,
    aside smallint, aside_since bigint, aside_error bytea -- ready jobs that are aside: see place_add()
);

CREATE FUNCTION standing_of(seq_ bigint) RETURNS standing LANGUAGE sql STABLE AS $$
    SELECT j.seq, j.id, j.queue_id, j.type, j.priority, j.due, j.run_at, j.timeout, j.max_attempts,
        j.max_stalls, coalesce(e.attempts, j.attempts), coalesce(e.stalls, j.stalls), j.key,
        j.update_flags,
        CASE
            WHEN l.seq IS NOT NULL THEN 3::smallint
            WHEN e.seq IS NOT NULL THEN e.state
            WHEN a.seq IS NOT NULL THEN 1::smallint
            WHEN EXISTS (SELECT 1 FROM ready r WHERE r.queue_id = j.queue_id
                AND r.priority = j.priority AND r.due = j.due AND r.seq = j.seq) THEN 1::smallint
            ELSE (SELECT w.state FROM waiting w WHERE w.state IN (0, 2, 4)
                AND w.due = j.due AND w.seq = j.seq)
        END,
        coalesce(l.execution, e.executions, j.executions), coalesce(l.token, e.token), l.expires_at,
        coalesce(l.pool, e.pool), coalesce(l.worker, e.worker),
        coalesce(l.started_at, e.started_at),
        coalesce(l.cancel_requested_at, e.cancel_requested_at), e.ended_by, a.why, a.since, a.error
    FROM job j
        LEFT JOIN lease l ON l.queue_id = j.queue_id AND l.seq = j.seq
        LEFT JOIN ended e ON e.seq = j.seq
        LEFT JOIN aside a ON a.seq = j.seq
    WHERE j.seq = seq_;
$$;

CREATE FUNCTION seq_of(id_ uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT seq FROM job WHERE id = id_;
$$;

-- NULL when there is no such job.
CREATE FUNCTION state_of(id_ uuid) RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT state FROM job_view WHERE id = id_;
$$;

-- ---- keys ----

-- Our lock on the key, made if need be. twins_store() removes it when nobody needs it. It waits for
-- whoever has the key, so a pool calls it only for keys that it has seized.
CREATE FUNCTION twins_lock(queue_id_ int, key_ text) RETURNS keyed LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    LOOP
        SELECT * INTO twins FROM keyed WHERE queue_id = queue_id_ AND key = key_ FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO keyed (queue_id, key) VALUES (queue_id_, key_)
        ON CONFLICT (queue_id, key) DO NOTHING;
    END LOOP;
    RETURN twins;
END $$;

CREATE FUNCTION twins_store(twins keyed) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF twins.waiting IS NULL AND twins.running IS NULL THEN
        DELETE FROM keyed WHERE queue_id = twins.queue_id AND key = twins.key;
    ELSE
        UPDATE keyed SET waiting = twins.waiting, running = twins.running
        WHERE queue_id = twins.queue_id AND key = twins.key;
    END IF;
END $$;

-- Nobody else changes where the job stands from now on; who holds that is waited for. Reserve, a plain
-- ack, promote and prune need no more than the row that says where it stands, and it is looked for
-- again when it has moved meanwhile.
CREATE FUNCTION hold(seq_ bigint) RETURNS standing LANGUAGE plpgsql AS $$
DECLARE
    held job;
    twins keyed;
    none standing;
BEGIN
    SELECT queue_id, key INTO held.queue_id, held.key FROM job WHERE seq = seq_;
    IF NOT FOUND THEN
        RETURN none;
    END IF;
    IF held.key IS NOT NULL THEN
        twins := twins_lock(held.queue_id, held.key);
    END IF;
    FOR attempt IN 1..1000 LOOP
        SELECT queue_id, priority, due INTO held.queue_id, held.priority, held.due
        FROM job WHERE seq = seq_;
        IF NOT FOUND THEN
            IF held.key IS NOT NULL THEN
                PERFORM twins_store(twins);
            END IF;
            RETURN none;
        END IF;
        PERFORM FROM lease WHERE queue_id = held.queue_id AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM ready WHERE queue_id = held.queue_id AND priority = held.priority
            AND due = held.due AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM waiting WHERE state IN (0, 2, 4) AND due = held.due AND seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM aside WHERE seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
        PERFORM FROM ended WHERE seq = seq_ FOR UPDATE;
        EXIT WHEN FOUND;
    END LOOP;
    RETURN standing_of(seq_);
END $$;

-- All of these jobs, in the order that everybody keeps who needs several: first their keys, which are
-- answered for let_go_all(). The seqs are those of the ids: one that is removed and comes again meanwhile
-- is another job, which would be held out of order, so it is none of them.
CREATE FUNCTION hold_all(ids uuid[], OUT seqs bigint[], OUT keys keyed[]) LANGUAGE plpgsql AS $$
BEGIN
    seqs := ARRAY(SELECT seq_of(u.id) FROM unnest(ids) WITH ORDINALITY u (id, n) ORDER BY u.n);
    SELECT array_agg(twins_lock(k.queue_id, k.key)) INTO keys FROM (
        SELECT j.queue_id, j.key FROM unnest(seqs) u (seq)
            CROSS JOIN LATERAL (SELECT queue_id, key FROM job WHERE job.seq = u.seq OFFSET 0) j
        WHERE j.key IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2) k;
    PERFORM hold(h.seq) FROM (SELECT u.seq FROM unnest(seqs) u (seq) GROUP BY 1 ORDER BY 1) h;
END $$;

CREATE FUNCTION let_go_all(keys keyed[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM keyed k USING unnest(keys) u
    WHERE k.queue_id = u.queue_id AND k.key = u.key AND k.waiting IS NULL AND k.running IS NULL;
$$;

-- The same for a running job, by a pool: false when somebody else has it now. A key without a row is
-- damage; `mends` makes it anew.
CREATE FUNCTION seize(st standing, mends boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF st.key IS NOT NULL THEN
        PERFORM FROM keyed WHERE queue_id = st.queue_id AND key = st.key FOR UPDATE SKIP LOCKED;
        IF NOT FOUND AND mends THEN
            PERFORM FROM keyed WHERE queue_id = st.queue_id AND key = st.key;
            IF FOUND THEN
                RETURN false;
            END IF;
            PERFORM twins_lock(st.queue_id, st.key);
        ELSIF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    PERFORM FROM lease WHERE queue_id = st.queue_id AND seq = st.seq FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;

-- Whoever held a key only to look lets go of what twins_lock() may have made.
CREATE FUNCTION let_go(st standing) RETURNS void LANGUAGE sql AS $$
    DELETE FROM keyed WHERE st.key IS NOT NULL AND queue_id = st.queue_id AND key = st.key
        AND waiting IS NULL AND running IS NULL;
$$;

-- ---- places ----

CREATE FUNCTION state_when_due(due_ bigint, now_ bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN due_ > now_ THEN 0 ELSE 1 END::smallint;
$$;

-- So many jobs more, or fewer, are in a state: in the transaction that puts them there.
CREATE FUNCTION count_state(queue_id_ int, state_ int, change bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO counted (queue_id, scheduled, ready, blocked, running, retry, done, dead, cancelled)
    VALUES (queue_id_,
        CASE WHEN state_ = 0 THEN change END, CASE WHEN state_ = 1 THEN change END,
        CASE WHEN state_ = 2 THEN change END, CASE WHEN state_ = 3 THEN change END,
        CASE WHEN state_ = 4 THEN change END, CASE WHEN state_ = 5 THEN change END,
        CASE WHEN state_ = 6 THEN change END, CASE WHEN state_ = 7 THEN change END);
END $$;

-- So many more of the ready ones are aside for this reason, or fewer.
CREATE FUNCTION count_aside(queue_id_ int, why_ int, change bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO counted (queue_id, no_handler, cannot_start)
    VALUES (queue_id_, CASE WHEN why_ = 1 THEN change END, CASE WHEN why_ = 2 THEN change END);
$$;

-- The place that the job's row, st.state and st.aside say.
CREATE FUNCTION place_add(st standing) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF st.aside IS NOT NULL THEN
        INSERT INTO aside (seq, queue_id, why, type, priority, due, since, error)
        VALUES (st.seq, st.queue_id, st.aside, st.type, st.priority, st.due, st.aside_since,
            st.aside_error);
        PERFORM count_aside(st.queue_id, st.aside, 1);
    ELSIF st.state = 1 THEN
        PERFORM ring_later();
        INSERT INTO ready (queue_id, priority, due, seq, keyed, traces)
        VALUES (st.queue_id, st.priority, st.due, st.seq, st.key IS NOT NULL,
            st.key IS NOT NULL OR st.executions > 0 OR st.stalls > 0 OR st.attempts > 0);
    ELSE
        INSERT INTO waiting (state, due, seq, queue_id)
        VALUES (st.state, st.due, st.seq, st.queue_id);
    END IF;
    PERFORM count_state(st.queue_id, st.state, 1);
END $$;

CREATE FUNCTION place_remove(st standing) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF st.aside IS NOT NULL THEN
        DELETE FROM aside WHERE seq = st.seq;
        IF FOUND THEN
            PERFORM count_aside(st.queue_id, st.aside, -1);
            PERFORM count_state(st.queue_id, 1, -1);
        END IF;
        RETURN;
    ELSIF st.state = 1 THEN
        DELETE FROM ready WHERE queue_id = st.queue_id AND priority = st.priority
            AND due = st.due AND seq = st.seq;
    ELSE
        DELETE FROM waiting WHERE state = st.state AND due = st.due AND seq = st.seq;
    END IF;
    IF FOUND THEN
        PERFORM count_state(st.queue_id, st.state, -1);
    END IF;
END $$;

-- ---- merging, as keyed_merge() of job/keyed.c says ----

-- flags: 1 payload and priority, 2 retry limits, 4 reset counts, from bit 3 on when to take run_at:
-- 0 always, 1 never, 2 if earlier, 3 if later.
CREATE FUNCTION merge_moves(waiting_due bigint, newcomer_due bigint, flags int)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE flags >> 3 & 3
        WHEN 0 THEN true
        WHEN 1 THEN false
        WHEN 2 THEN newcomer_due < waiting_due
        ELSE newcomer_due > waiting_due
    END;
$$;

CREATE FUNCTION merge(st standing, newcomer standing, flags int) RETURNS standing
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF merge_moves(st.due, newcomer.due, flags) THEN
        st.run_at := newcomer.run_at;
        st.due := newcomer.due;
    END IF;
    IF flags & 1 <> 0 THEN
        st.priority := newcomer.priority;
    END IF;
    IF flags & 2 <> 0 THEN
        st.max_attempts := newcomer.max_attempts;
        st.max_stalls := newcomer.max_stalls;
        st.timeout := newcomer.timeout;
    END IF;
    IF flags & 4 <> 0 THEN
        st.attempts := 0;
        st.stalls := 0;
    END IF;
    RETURN st;
END $$;

-- What a blocked job is merged by after a second one was merged into it: whatever either asked for.
CREATE FUNCTION flags_join(first_ int, second_ int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
    SELECT ((first_ | second_) & 7) | 8 * CASE
        WHEN first_ >> 3 & 3 = 0 OR second_ >> 3 & 3 = 1 THEN first_ >> 3 & 3
        ELSE second_ >> 3 & 3
    END;
$$;

CREATE FUNCTION write_merge(st standing, flags int) RETURNS void LANGUAGE sql AS $$
    UPDATE job SET priority = st.priority, due = st.due, run_at = st.run_at, timeout = st.timeout,
        max_attempts = st.max_attempts, max_stalls = st.max_stalls, attempts = st.attempts,
        stalls = st.stalls, update_flags = flags
    WHERE seq = st.seq;
$$;

-- ---- leaving ----

CREATE FUNCTION end_write(st standing, state_ int, now_ bigint, ended_by_ int, merged_into_ uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions, attempts, stalls, token,
        ended_by, pool, worker, started_at, cancel_requested_at, merged_into)
    VALUES (st.seq, state_, true, st.queue_id, now_, st.executions, st.attempts, st.stalls, st.token,
        ended_by_, st.pool, st.worker, st.started_at, st.cancel_requested_at, merged_into_);
    PERFORM count_state(st.queue_id, state_, 1);
END $$;

CREATE FUNCTION end_remove(seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone ended;
BEGIN
    DELETE FROM ended WHERE seq = seq_ RETURNING queue_id, state INTO gone.queue_id, gone.state;
    IF FOUND THEN
        PERFORM count_state(gone.queue_id, gone.state, -1);
    END IF;
END $$;

-- Everything the job left in any table but its place, its lease and its idempotency record.
CREATE FUNCTION forget(seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM end_remove(seq_);
    DELETE FROM detail WHERE seq = seq_;
    DELETE FROM run WHERE seq = seq_;
    DELETE FROM job WHERE seq = seq_;
END $$;

-- A lease of the queue has ended: whoever found it full is to be woken.
CREATE FUNCTION drop_lease(queue_id_ int, seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lease WHERE queue_id = queue_id_ AND seq = seq_;
    IF FOUND THEN
        PERFORM count_state(queue_id_, 3, -1);
    END IF;
END $$;

-- The job of this standing runs no more and does not return: its blocked twin waits in line now.
CREATE FUNCTION twins_running_ended(st standing, now_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
    blocked standing;
BEGIN
    IF st.key IS NULL THEN
        RETURN;
    END IF;
    twins := twins_lock(st.queue_id, st.key);
    twins.running := NULL;
    PERFORM twins_store(twins);
    IF twins.waiting IS NULL THEN
        RETURN;
    END IF;
    blocked := standing_of(twins.waiting);
    IF blocked.seq IS NOT NULL THEN
        PERFORM place_remove(blocked);
        blocked.state := state_when_due(blocked.due, now_);
        PERFORM place_add(blocked);
    END IF;
END $$;

-- For good. st has the counts as they shall be.
CREATE FUNCTION leave_ended(st standing, state_ int, now_ bigint, ended_by_ int)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM drop_lease(st.queue_id, st.seq);
    PERFORM end_write(st, state_, now_, ended_by_, NULL);
    PERFORM twins_running_ended(st, now_);
END $$;

-- Back to waiting in state_, with place, run_at and counts as st says. A blocked twin is merged into
-- it and ends as cancelled.
CREATE FUNCTION leave_returned(st standing, state_ smallint, now_ bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
    blocked standing;
    moved boolean := false;
BEGIN
    PERFORM drop_lease(st.queue_id, st.seq);
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        IF twins.waiting IS NOT NULL THEN
            blocked := standing_of(twins.waiting);
        END IF;
        IF blocked.seq IS NOT NULL THEN
            moved := merge_moves(st.due, blocked.due, blocked.update_flags);
            IF blocked.update_flags & 1 <> 0 THEN
                UPDATE job SET encoding = other.encoding, payload = other.payload
                FROM job other WHERE job.seq = st.seq AND other.seq = blocked.seq;
            END IF;
            st := merge(st, blocked, blocked.update_flags);
            PERFORM write_merge(st, blocked.update_flags);
            PERFORM place_remove(blocked);
            PERFORM end_write(blocked, 7, now_, NULL, st.id);
        END IF;
        twins.waiting := st.seq;
        twins.running := NULL;
        PERFORM twins_store(twins);
    END IF;
    UPDATE job SET due = st.due, run_at = st.run_at, attempts = st.attempts, stalls = st.stalls,
        executions = st.executions
    WHERE seq = st.seq;
    st.state := state_;
    IF moved THEN
        st.state := state_when_due(st.due, now_);
        st.aside := NULL;
    END IF;
    PERFORM place_add(st);
END $$;

-- Adds to the job's newest executions, of which ten are kept.
CREATE FUNCTION record_run(st standing, r run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run (seq, execution, outcome, pool, worker, started_at, wall, user_time,
        system_time, max_rss_kb, exit_code, signal, error)
    VALUES (st.seq, st.executions, r.outcome, st.pool, r.worker, r.started_at, r.wall, r.user_time,
        r.system_time, r.max_rss_kb, r.exit_code, r.signal, r.error)
    ON CONFLICT (seq, execution) DO NOTHING;
    IF st.executions > 10 THEN
        DELETE FROM run WHERE seq = st.seq AND execution <= st.executions - 10;
    END IF;
END $$;
