-- Leases that ran out.

-- Ready again at its old place with one stall more; or cancelled, if that was asked for. False when it
-- is not to be taken back, NULL when somebody else has it or its key now.
CREATE FUNCTION take_back(queue_id_ int, seq_ bigint, now_ bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    st standing := standing_of(seq_);
    r run;
BEGIN
    IF st.seq IS NULL THEN
        PERFORM drop_lease(queue_id_, seq_);
        RETURN true;
    END IF;
    IF NOT seize(st, true) THEN
        PERFORM let_go(st);
        RETURN NULL;
    END IF;
    st := standing_of(seq_);
    IF st.state <> :JOB_RUNNING OR st.expires_at > now_ THEN
        PERFORM let_go(st);
        RETURN false;
    END IF;
    r.outcome := :RUN_STALLED;
    r.worker := st.worker;
    r.started_at := st.started_at;
    r.wall := now_ - st.started_at;
    r.user_time := 0;
    r.system_time := 0;
    r.max_rss_kb := 0;
    PERFORM record_run(st, r);
    st.stalls := st.stalls + 1;
    IF st.cancel_requested_at IS NOT NULL THEN
        PERFORM leave_ended(st, :JOB_CANCELLED, now_, NULL);
    ELSE
        st.run_at := NULL;
        PERFORM leave_returned(st, :JOB_READY::smallint, now_);
    END IF;
    RETURN true;
END $$;

-- At most limit_ leases of one queue, which the caller has locked alone. What somebody else holds is
-- looked at again a little later.
CREATE FUNCTION reclaim_queue(queue_id_ int, now_ bigint, limit_ bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    moved bigint := 0;
    passed boolean := false;
    is_over boolean;
    next_ bigint;
    seq_ bigint;
BEGIN
    PERFORM unpack_expired(queue_id_, now_, limit_);
    FOR seq_ IN SELECT seq FROM lease WHERE queue_id = queue_id_ AND expires_at <= now_ ORDER BY seq
    LOOP
        EXIT WHEN moved >= limit_;
        is_over := take_back(queue_id_, seq_, now_);
        moved := moved + coalesce(is_over, false)::int;
        passed := passed OR is_over IS NULL;
    END LOOP;
    IF moved < limit_ THEN -- what is left of batches that ran out somebody else has
        passed := passed
            OR EXISTS (SELECT FROM batch WHERE queue_id = queue_id_ AND expires_at <= now_);
    END IF;
    SELECT min(l.expires_at) INTO next_
    FROM (SELECT expires_at FROM lease WHERE queue_id = queue_id_
        UNION ALL SELECT expires_at FROM batch WHERE queue_id = queue_id_) l
    WHERE moved >= limit_ OR l.expires_at > now_;
    IF passed THEN
        next_ := least(next_, now_ + 200 * :USEC_PER_MSEC);
    END IF;
    UPDATE queue SET next_expiry = next_ WHERE queue_id = queue_id_;
    RETURN moved;
END $$;

-- Of the queues whose leases have ended, those that somebody waits for: the bell has to ring.
CREATE FUNCTION announce_room(queue_ids int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM queue WHERE queue_id = ANY (queue_ids) AND awaited
    ORDER BY queue_id FOR NO KEY UPDATE;
    IF FOUND THEN
        UPDATE queue SET awaited = false WHERE queue_id = ANY (queue_ids) AND awaited;
        PERFORM ring_later();
    END IF;
END $$;

CREATE FUNCTION reclaim(now_ bigint, limit_ bigint, clocked boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    over_ bigint := over_at(now_, clocked);
    queue_ids int[] := ARRAY(
        SELECT queue_id FROM queue WHERE next_expiry <= over_ ORDER BY queue_id);
    moved bigint := 0;
BEGIN
    FOR i IN 1..cardinality(queue_ids) LOOP
        PERFORM queue_lock(queue_ids[i], true);
    END LOOP;
    FOR i IN 1..cardinality(queue_ids) LOOP
        EXIT WHEN moved >= limit_;
        moved := moved + reclaim_queue(queue_ids[i], over_, limit_ - moved);
        PERFORM announce_room(ARRAY[queue_ids[i]]);
    END LOOP;
    RETURN moved;
END $$;
