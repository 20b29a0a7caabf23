-- What people do to jobs. Each takes ids and answers a verdict per id, in order: 0 ok, 4 not_found,
-- 8 conflict.

CREATE FUNCTION cancel_one(st standing, now_ bigint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state > 4 THEN
        RETURN 8;
    END IF;
    IF st.state = 3 THEN
        UPDATE lease SET cancel_requested_at = coalesce(cancel_requested_at, now_), traces = true
        WHERE queue_id = st.queue_id AND seq = st.seq;
        RETURN 0;
    END IF;
    PERFORM place_remove(st);
    PERFORM end_write(st, 7, now_, NULL, NULL);
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        twins.waiting := NULL;
        PERFORM twins_store(twins);
    END IF;
    RETURN 0;
END $$;

CREATE FUNCTION cancel(ids uuid[], now_ bigint) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
    st standing;
BEGIN
    PERFORM lock_keys(ARRAY(SELECT seq_of(u) FROM unnest(ids) u));
    FOR i IN 1..cardinality(ids) LOOP
        st := hold(seq_of(ids[i]));
        RETURN NEXT CASE WHEN st.seq IS NULL THEN 4 ELSE cancel_one(st, now_) END;
        PERFORM let_go(st);
    END LOOP;
END $$;

CREATE FUNCTION requeue_one(st standing, run_at_ bigint, now_ bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    twins keyed;
BEGIN
    IF st.state IS NULL OR st.state < 6 THEN
        RETURN 8;
    END IF;
    IF st.key IS NOT NULL THEN
        twins := twins_lock(st.queue_id, st.key);
        -- Behind a running twin it would be blocked, and merged into that if it comes back: one of
        -- another type cannot be.
        IF twins.waiting IS NOT NULL
            OR (SELECT type FROM job WHERE seq = twins.running) <> st.type THEN
            RETURN 8;
        END IF;
    END IF;
    st.due := coalesce(run_at_, now_);
    st.state := CASE WHEN twins.running IS NOT NULL THEN 2 ELSE state_when_due(st.due, now_) END;
    st.attempts := 0;
    st.stalls := 0;
    UPDATE job SET due = st.due, run_at = run_at_, attempts = 0, stalls = 0,
        executions = st.executions
    WHERE seq = st.seq;
    UPDATE detail SET last_error = NULL, failed_at = NULL, reason = NULL, exit_code = NULL,
        signal = NULL, progress_percent = NULL, progress_text = NULL, result = NULL
    WHERE seq = st.seq;
    PERFORM end_remove(st.seq);
    PERFORM place_add(st);
    IF st.key IS NOT NULL THEN
        twins.waiting := st.seq;
        PERFORM twins_store(twins);
    END IF;
    RETURN 0;
END $$;

CREATE FUNCTION requeue(ids uuid[], run_at_ bigint, now_ bigint) RETURNS SETOF int
LANGUAGE plpgsql AS $$
DECLARE
    st standing;
BEGIN
    PERFORM lock_keys(ARRAY(SELECT seq_of(u) FROM unnest(ids) u));
    FOR i IN 1..cardinality(ids) LOOP
        st := hold(seq_of(ids[i]));
        RETURN NEXT CASE WHEN st.seq IS NULL THEN 4 ELSE requeue_one(st, run_at_, now_) END;
        PERFORM let_go(st);
    END LOOP;
END $$;

CREATE FUNCTION remove(ids uuid[]) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
    st standing;
BEGIN
    PERFORM lock_keys(ARRAY(SELECT seq_of(u) FROM unnest(ids) u));
    FOR i IN 1..cardinality(ids) LOOP
        st := hold(seq_of(ids[i]));
        IF st.seq IS NULL THEN
            RETURN NEXT 4;
        ELSIF st.state IS NULL OR st.state < 5 THEN
            RETURN NEXT 8;
        ELSE
            DELETE FROM idempotency WHERE id = st.id;
            PERFORM forget(st.seq);
            RETURN NEXT 0;
        END IF;
        PERFORM let_go(st);
    END LOOP;
END $$;

CREATE FUNCTION set_paused(name_ text, paused_at_ bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    queue_id_ int := queue_make(name_);
BEGIN
    UPDATE queue SET paused_at =
        CASE WHEN paused_at_ IS NULL THEN NULL ELSE coalesce(paused_at, paused_at_) END
    WHERE queue_id = queue_id_;
    IF paused_at_ IS NULL THEN
        PERFORM ring_later();
    END IF;
END $$;
