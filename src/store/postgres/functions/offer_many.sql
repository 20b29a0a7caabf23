-- Many jobs as their producer says them: read, checked and, unless one of them has a key of either
-- kind, stored set-wise.

-- ---- reading ----

-- An object without what enqueue_many() knows.
CREATE FUNCTION unknown_fields(item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN item - ARRAY['type', 'payload', 'payload_base64', 'queue', 'run_at', 'priority', 'timeout',
    'max_attempts', 'max_stalls', 'key', 'idempotency_key', 'idempotency_window', 'update_payload',
    'update_run_at', 'update_retry', 'reset_counts', 'id', 'headers', 'tags'];

-- What is no job at all: the sentence of the first one, or NULL.
CREATE FUNCTION check_items(jobs jsonb) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT item_label(e.n, jsonb_array_length(jobs)) || CASE
        WHEN jsonb_typeof(e.item) <> 'object' THEN 'a job is an object: use {"type": ...}'
        ELSE format('unknown field ''%s''', excerpt((SELECT min(f)
            FROM jsonb_object_keys(unknown_fields(e.item)) f))) END
    FROM jsonb_array_elements(jobs) WITH ORDINALITY e (item, n)
    WHERE jsonb_typeof(e.item) <> 'object' OR unknown_fields(e.item) <> '{}'
    ORDER BY e.n LIMIT 1;
$$;

-- All of them in order, and what is wrong with each that a job_spec cannot hold. A value of the wrong
-- type raises what PostgreSQL says of it.
CREATE FUNCTION read_items(jobs jsonb, now_ bigint, window_ bigint)
RETURNS TABLE (n bigint, spec job_spec, wrong text) LANGUAGE sql STABLE AS $$
    SELECT s.n, ROW(
            coalesce(s.id, make_id(now_ + s.n)), coalesce(s.queue, :JOB_QUEUE_DEFAULT), s.type,
            CASE WHEN s.payload_base64 IS NOT NULL THEN :JOB_RAW ELSE :JOB_JSON END,
            CASE WHEN s.priority BETWEEN 0 AND :JOB_PRIORITY_MAX THEN s.priority
                ELSE :JOB_PRIORITY_DEFAULT END,
            usec_of(s.run_at), nullif(usec_of(s.timeout), 0), nullif(s.max_attempts, 0),
            nullif(s.max_stalls, 0), 0, 0, s.key,
            pack_flags(s.update_payload, s.update_run_at, s.update_retry, s.reset_counts),
            CASE WHEN NOT is_blank(s.idempotency_key) THEN s.idempotency_key END,
            least(now_ + coalesce(usec_of(s.idempotency_window), window_), :TIMESTAMP_MAX),
            coalesce(decode(s.payload_base64, 'base64'),
                convert_to(coalesce(s.payload::text, 'null'), 'UTF8')),
            convert_to(nullif(s.headers, 'null')::text, 'UTF8'), s.tags
        )::job_spec,
        CASE WHEN s.payload IS NOT NULL AND s.payload_base64 IS NOT NULL THEN
                'payload and payload_base64 are both there: use one of them'
            ELSE coalesce(check_words(s.priority, s.idempotency_window, s.update_run_at),
                check_nesting(s.payload::text)) END
    FROM ROWS FROM (jsonb_to_recordset(jobs) AS (type text, payload jsonb, payload_base64 text,
        queue text, run_at timestamptz, priority int, timeout interval, max_attempts int,
        max_stalls int, key text, idempotency_key text, idempotency_window interval,
        update_payload boolean, update_run_at text, update_retry boolean, reset_counts boolean,
        id uuid, headers jsonb, tags text[])) WITH ORDINALITY s (type, payload, payload_base64, queue, run_at, priority, timeout,
        max_attempts, max_stalls, key, idempotency_key, idempotency_window, update_payload,
        update_run_at, update_retry, reset_counts, id, headers, tags, n);
$$;

-- Which of them cannot be read, and why.
CREATE FUNCTION find_unreadable(jobs jsonb) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    item jsonb;
    n int := 0;
BEGIN
    FOR item IN SELECT * FROM jsonb_array_elements(jobs) LOOP
        n := n + 1;
        PERFORM count(r) FROM read_items(jsonb_build_array(item), 0, 0) r;
    END LOOP;
    RETURN 'the jobs cannot be read';
EXCEPTION WHEN data_exception THEN
    RETURN item_label(n, jsonb_array_length(jobs)) || SQLERRM;
END $$;

-- The sentence for the first of them that is wrong, or NULL.
CREATE FUNCTION check_specs(specs job_spec[], max_payload bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT item_label(s.ordinality, cardinality(specs)) || s.wrong
    FROM (SELECT j.ordinality, check_fields(j.id, j.queue, j.type, octet_length(j.payload), j.priority,
            j.run_at, j.timeout, j.max_attempts, j.max_stalls, j.attempts, j.stalls, j.key,
            j.idempotency_key, j.idempotency_expires, j.headers, j.tags, max_payload) AS wrong
        FROM unnest(specs) WITH ORDINALITY j) s
    WHERE s.wrong IS NOT NULL ORDER BY s.ordinality LIMIT 1;
$$;

CREATE FUNCTION read_many(jobs jsonb, now_ bigint, limits meta, OUT specs job_spec[], OUT wrong text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF jsonb_typeof(jobs) IS DISTINCT FROM 'array' THEN
        wrong := 'jobs is no array: use [{"type": ...}, ...]';
        RETURN;
    END IF;
    wrong := check_items(jobs);
    IF wrong IS NULL THEN
        SELECT array_agg(r.spec), (array_agg(item_label(r.n, jsonb_array_length(jobs))
            || r.wrong ORDER BY r.n) FILTER (WHERE r.wrong IS NOT NULL))[1]
        INTO specs, wrong FROM read_items(jobs, now_, limits.idempotency_window) r;
        wrong := coalesce(wrong, check_specs(specs, limits.max_payload));
    END IF;
EXCEPTION WHEN data_exception THEN
    wrong := find_unreadable(jobs);
END $$;

-- ---- storing ----

CREATE FUNCTION store_plain(specs job_spec[], now_ bigint) RETURNS SETOF enqueued
LANGUAGE plpgsql AS $$
DECLARE
    queues text[] := ARRAY(SELECT DISTINCT s.queue FROM unnest(specs) s);
    existing int[];
    states smallint[];
BEGIN
    SELECT array_agg(e.n), array_agg(e.state_) INTO existing, states
    FROM (SELECT array_agg(s.id) AS ids, array_agg(s.queue_at) AS queue_at, array_agg(s.type) AS types,
            array_agg(s.encoding::int) AS encodings, array_agg(s.priority::int) AS priorities,
            array_agg(s.run_at) AS run_ats, array_agg(s.timeout) AS timeouts,
            array_agg(s.max_attempts) AS max_attempts, array_agg(s.max_stalls) AS max_stalls,
            array_agg(s.attempts) AS attempts, array_agg(s.stalls) AS stalls,
            array_agg(s.payload) AS payloads,
            CASE WHEN bool_or(s.headers IS NOT NULL) THEN array_agg(s.headers) END AS headers
        FROM (SELECT j.*, q.at::int AS queue_at FROM unnest(specs) WITH ORDINALITY j
                JOIN unnest(queues) WITH ORDINALITY q (name, at) ON q.name = j.queue
            ORDER BY j.ordinality) s) a
        CROSS JOIN LATERAL enqueue_plain(now_, true, queues, a.queue_at, a.ids, a.types,
            a.payloads, a.encodings, a.priorities, a.max_attempts, a.max_stalls, a.attempts, a.stalls,
            a.run_ats, a.timeouts, a.headers) e;
    RETURN QUERY SELECT j.id, coalesce(e.state, state_when_due(coalesce(j.run_at, now_), now_)),
        e.n IS NOT NULL, false, NULL::text
    FROM unnest(specs) WITH ORDINALITY j LEFT JOIN unnest(existing, states) e (n, state)
        ON e.n = j.ordinality
    ORDER BY j.ordinality;
END $$;

CREATE FUNCTION are_plain(specs job_spec[]) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM unnest(specs) s
        WHERE s.key IS NOT NULL OR s.idempotency_key IS NOT NULL
            OR cardinality(s.tags) > 0);
$$;

CREATE FUNCTION any_is_due_soon(specs job_spec[], now_ bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM unnest(specs) s WHERE s.run_at IS NULL OR s.run_at <= now_ + :JOB_SOON);
$$;

-- ---- for the driver of a producer ----

-- What could not come from our driver, or is not JSON though it says so: the first sentence, or NULL.
CREATE FUNCTION check_given(specs job_spec[]) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT item_label(s.ordinality, cardinality(specs)) || s.wrong FROM (
        SELECT j.ordinality, CASE
            WHEN j.encoding NOT IN (:JOB_JSON, :JOB_RAW) THEN 'encoding is json or raw'
            WHEN j.update_flags NOT BETWEEN 0 AND :KEYED_FLAGS THEN
                'update_flags is out of range: use 0 to :KEYED_FLAGS'
            WHEN j.encoding = :JOB_JSON THEN check_json(j.payload) END AS wrong
        FROM unnest(specs) WITH ORDINALITY j) s
    WHERE s.wrong IS NOT NULL ORDER BY s.ordinality LIMIT 1;
$$;

-- As enqueue_items(), for those who may do nothing else: nothing is believed.
CREATE FUNCTION enqueue_checked(specs json) RETURNS SETOF enqueued
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET jit = off AS $$
DECLARE
    now_ bigint := usec_of(clock_timestamp());
    given job_spec[] := ARRAY(SELECT s FROM json_populate_recordset(NULL::job_spec, specs) s);
    wrong text := coalesce(check_specs(given, (SELECT max_payload FROM meta)), check_given(given));
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'TH002', MESSAGE = wrong;
    END IF;
    IF are_plain(given) THEN
        RETURN QUERY SELECT * FROM store_plain(given, now_);
    ELSE
        RETURN QUERY SELECT * FROM enqueue_items(specs, now_);
    END IF;
    IF any_is_due_soon(given, now_) THEN
        PERFORM ring_with_commit();
    END IF;
END $$;
