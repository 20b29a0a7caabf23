-- Jobs for people who look at them, and act on them, by SQL.

-- ---- looking ----

CREATE FUNCTION moment_of(usec bigint) RETURNS timestamptz LANGUAGE sql STABLE
RETURN 'epoch'::timestamptz + (usec / 1000000) * interval '1 second'
    + (usec % 1000000) * interval '1 microsecond';

CREATE FUNCTION duration_of(usec bigint) RETURNS interval LANGUAGE sql IMMUTABLE
RETURN usec * interval '1 microsecond';

-- What a program wrote need not be text; then it is shown as encode(…, 'escape') does.
CREATE FUNCTION text_of(bytes bytea) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN data_exception THEN
    RETURN encode(bytes, 'escape');
END $$;

CREATE FUNCTION reason_word(reason smallint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE reason WHEN 1 THEN 'exhausted' WHEN 2 THEN 'permanent' WHEN 3 THEN 'stalled'
    WHEN 4 THEN 'no_handler' WHEN 5 THEN 'invalid_payload' WHEN 6 THEN 'cannot_start' END;

-- A part of the view for each place where a job can stand, so that the index of that place serves
-- WHERE state = '…'. The columns of all are the same; what a place does not have is NULL.
DO $$
DECLARE
    not_aside CONSTANT text := 'NULL::smallint AS why, NULL::bigint AS since, NULL::bytea AS error';
    nothing CONSTANT text := 'NULL::bigint AS executions, NULL::int AS attempts, NULL::int AS stalls,
        NULL::bigint AS started_at, NULL::bigint AS ended_at, NULL::text AS pool, NULL::int AS worker,
        NULL::bigint AS cancel_requested_at, NULL::uuid AS merged_into, NULL::int AS exit_code';
    places text[] := ARRAY[
        ['ready', format('(SELECT *, %s, %s FROM ready) p ON p.queue_id = j.queue_id
            AND p.priority = j.priority AND p.due = j.due AND p.seq = j.seq', nothing, not_aside)],
        ['ready', format('(SELECT *, %s FROM aside) p ON p.seq = j.seq', nothing)],
        ['running', format('(SELECT queue_id, seq, execution AS executions, NULL::int AS attempts,
            NULL::int AS stalls, started_at, NULL::bigint AS ended_at, pool, worker,
            cancel_requested_at, NULL::uuid AS merged_into, NULL::int AS exit_code, %s FROM lease) p
            ON p.queue_id = j.queue_id AND p.seq = j.seq', not_aside)]];
    word text;
BEGIN
    FOREACH word IN ARRAY ARRAY['scheduled', 'blocked', 'retry'] LOOP
        places := places || ARRAY[[word, format('(SELECT *, %s, %s FROM waiting WHERE state = %s) p
            ON p.due = j.due AND p.seq = j.seq', nothing, not_aside, state_number(word))]];
    END LOOP;
    FOREACH word IN ARRAY ARRAY['done', 'dead', 'cancelled'] LOOP
        places := places || ARRAY[[word, format('(SELECT *, %s FROM ended WHERE state = %s) p
            ON p.seq = j.seq', not_aside, state_number(word))]];
    END LOOP;
    EXECUTE 'CREATE VIEW jobs AS ' || (SELECT string_agg(format('
        SELECT j.id, j.type, coalesce(q.name, (SELECT min(b.name) FROM queue_born b
                WHERE b.queue_id = j.queue_id)) AS queue,
            %1$L::text AS state, CASE j.encoding WHEN 0 THEN ''json'' ELSE ''raw'' END AS encoding,
            text_of(j.payload) AS payload, j.priority::int AS priority, moment_of(j.run_at) AS run_at,
            duration_of(j.timeout) AS timeout, coalesce(p.attempts, j.attempts) AS attempts,
            j.max_attempts, coalesce(p.stalls, j.stalls) AS stalls, j.max_stalls,
            coalesce(p.executions, j.executions) AS executions, j.key, j.idempotency_key,
            moment_of(j.created_at) AS created_at, moment_of(p.started_at) AS started_at,
            moment_of(p.ended_at) AS ended_at, moment_of(d.failed_at) AS failed_at,
            text_of(coalesce(p.error, d.last_error)) AS last_error, reason_word(d.reason) AS reason,
            CASE p.why WHEN 1 THEN ''no_handler'' WHEN 2 THEN ''cannot_start'' END AS aside,
            moment_of(p.since) AS aside_since,
            CASE WHEN %1$L = ''done'' THEN p.exit_code ELSE d.exit_code END AS exit_code,
            CASE WHEN %1$L <> ''done'' THEN d.signal END AS signal, p.pool, p.worker,
            d.progress_percent::int AS progress_percent, text_of(d.progress_text) AS progress_text,
            text_of(d.result) AS result, text_of(d.output) AS output,
            moment_of(p.cancel_requested_at) AS cancel_requested_at, p.merged_into
        FROM job j JOIN %2$s LEFT JOIN queue q ON q.queue_id = j.queue_id
            LEFT JOIN detail d ON d.seq = j.seq', places[i][1], places[i][2]), ' UNION ALL ')
        FROM generate_series(1, array_length(places, 1)) i);
END $$;

-- A row per queue, as thctl stats has it.
CREATE VIEW stats AS
SELECT q.name AS queue, moment_of(p.paused_at) AS paused_at,
    coalesce(sum(c.scheduled), 0)::bigint AS scheduled, coalesce(sum(c.ready), 0)::bigint AS ready,
    coalesce(sum(c.blocked), 0)::bigint AS blocked, coalesce(sum(c.running), 0)::bigint AS running,
    coalesce(sum(c.retry), 0)::bigint AS retry, coalesce(sum(c.done), 0)::bigint AS done,
    coalesce(sum(c.dead), 0)::bigint AS dead, coalesce(sum(c.cancelled), 0)::bigint AS cancelled,
    coalesce(sum(c.no_handler), 0)::bigint AS no_handler,
    coalesce(sum(c.cannot_start), 0)::bigint AS cannot_start,
    coalesce(sum(c.done_total), 0)::bigint AS done_total,
    coalesce(sum(c.failed_total), 0)::bigint AS failed_total
FROM queue_name q LEFT JOIN queue p ON p.queue_id = q.queue_id
    LEFT JOIN counts c ON c.queue_id = q.queue_id
GROUP BY q.name, p.paused_at;

-- ---- acting: each answers the state that the job is in now, or NULL when there is none ----

-- A waiting job is cancelled; a running one is asked to stop.
CREATE FUNCTION cancel(id uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM cancel(ARRAY[cancel.id], usec_of(clock_timestamp()));
    RETURN state_word(state_of(cancel.id));
END $$;

-- A dead or cancelled job runs again, with all its attempts; one that waits for its time runs now.
CREATE FUNCTION retry(id uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    now_ bigint := usec_of(clock_timestamp());
    state_ smallint := state_of(retry.id);
BEGIN
    IF state_ > 5 THEN
        PERFORM requeue(ARRAY[retry.id], NULL, now_);
    ELSIF state_ <> 1 THEN
        PERFORM run_now(ARRAY[retry.id], now_);
    END IF;
    IF state_of(retry.id) = 1 AND state_ <> 1 THEN
        PERFORM ring_with_commit();
    END IF;
    RETURN state_word(state_of(retry.id));
END $$;

-- ---- waiting ----

-- Why a job's end cannot be seen by this transaction, or NULL.
CREATE FUNCTION blindness(id uuid) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
            format('wait_for() sees no commits of others in a transaction that is %s: call it in READ COMMITTED',
                upper(current_setting('transaction_isolation')))
        WHEN j.xmin = pg_current_xact_id_if_assigned()::xid THEN
            'wait_for() cannot wait for a job of its own transaction: nobody sees it before COMMIT'
    END
    FROM job j WHERE j.id = $1;
$$;

-- The state of the job when it has ended, or when the time is over. It looks again and again, less and
-- less often: 4 times a second at last.
CREATE FUNCTION wait_for(id uuid, timeout interval DEFAULT '30 seconds') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    until_ timestamptz := clock_timestamp() + coalesce(timeout, '30 seconds');
    pause double precision := 0.005;
    left_ double precision;
    state_ smallint;
    obstacle text;
BEGIN
    LOOP
        state_ := state_of(wait_for.id);
        left_ := extract(epoch FROM until_ - clock_timestamp());
        IF state_ IS NULL OR state_ > 4 OR left_ <= 0 THEN
            RETURN state_word(state_);
        END IF;
        obstacle := blindness(wait_for.id);
        IF obstacle IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'TH004', MESSAGE = obstacle;
        END IF;
        PERFORM pg_sleep(least(pause, left_));
        pause := least(1.5 * pause, 0.25);
    END LOOP;
END $$;
