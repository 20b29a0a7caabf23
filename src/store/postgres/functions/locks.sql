-- Locks are taken in one order by everybody, and what stands in one line in the order of the numbers or
-- names in brackets:
--
--     1  pools                advisory   exchange, settle, heartbeat, held (number)
--     2  new rows of queue    unique     exchange, prune, set_paused (name)
--     3  queues               advisory   exchange, heartbeat, reclaim (number)
--     4  a turn to pick       advisory   exchange
--     5  keys                 row        (queue, key)
--     6  idempotency records  row        (queue, key)
--     7  where jobs stand     row        ready, aside, waiting, lease, ended (seq), then batches (token)
--        to_cancel            row        (seq)
--     8  the jobs themselves, detail, run: only by who has 7
--     9  rows of queue        row        at the end (number); before, only by who has 3 alone
--
-- cron has one row for each call, which comes after 4, and so do rows of pool (name). Rows of tally (number) are for who adds up
-- counts, and holds nothing then that anybody waits for.
--
-- A pool waits for 1 to 4 and 9, which only pools hold, and people for a moment. What producers hold
-- as long as their own transactions last (5 to 8) it never waits for: what it cannot have at once it
-- leaves, says so, and tries again later. So nobody's open transaction stops a pool, and no pool is
-- part of a deadlock. Producers and people wait for 5 to 8. Who enqueues several keys in
-- transactions of their own has to keep an order as well; so do two calls that bring the same new ids.

-- The first number of our locks of one kind: enum pg_lock of protocol.h. None of them can be found out
-- without lock_space.
CREATE FUNCTION lock_class(what int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN base + what FROM lock_space;
END $$;

-- Whoever adds or ends leases of a queue has it locked, shared; alone is who counts them all, or
-- makes next_expiry exact: nobody else's leases are out of sight then.
CREATE FUNCTION queue_lock(queue_id_ int, alone boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(:LOCK_QUEUE);
BEGIN
    IF alone THEN
        PERFORM pg_advisory_xact_lock(class, queue_id_);
    ELSIF NOT pg_try_advisory_xact_lock_shared(class, queue_id_) THEN
        PERFORM pg_advisory_xact_lock_shared(class, queue_id_);
    END IF;
END $$;

-- One exchange, heartbeat or look at what is held of a pool at a time.
CREATE FUNCTION pool_lock(pool_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(:LOCK_POOL);
BEGIN
    -- Mostly nobody else has it, and an expression costs less than a statement.
    IF NOT pg_try_advisory_xact_lock(class, hashtext(pool_)) THEN
        PERFORM pg_advisory_xact_lock(class, hashtext(pool_));
    END IF;
END $$;

CREATE FUNCTION pools_lock(pools text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(pools) > 1 THEN
        PERFORM pool_lock(u.name) FROM (SELECT DISTINCT ON (hashtext(p)) p AS name
            FROM unnest(pools) p ORDER BY hashtext(p)) u;
    ELSE
        PERFORM pool_lock(pools[1]);
    END IF;
END $$;

-- Whoever picks steps over what others have picked and not yet committed, row by row, and that is
-- slow: of a hundred pools at once each did little else. So eight pick at a time. Who has a turn
-- has all other advisory locks already, so nobody's turn is longer than its own work and its commit.
CREATE FUNCTION take_turn(pool_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(:LOCK_TURN);
    mine int := hashtext(pool_) & 7;
BEGIN
    FOR i IN 0..7 LOOP
        IF pg_try_advisory_xact_lock(class, (mine + i) & 7) THEN
            RETURN;
        END IF;
    END LOOP;
    PERFORM pg_advisory_xact_lock(class, mine);
END $$;
