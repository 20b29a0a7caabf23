-- The way in for producers in any language, inside of their own transactions:
--
--     SELECT taskharbor.enqueue('email:send', '{"to": "ada"}', queue => 'mail', priority => 3);
--
-- The same checks and sentences as client/enqueue.c and job_validate() of job/job.c, and the same
-- rules, because the driver's own enqueue goes through enqueue_one() as well. Whoever sleeps is
-- woken by their commit.

-- ---- checks ----

-- Printable ASCII as it is, any other byte as \xNN; cut with "..." when longer.
CREATE FUNCTION excerpt(text_ text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    bytes bytea := convert_to(text_, 'UTF8');
    shown text := '';
    byte int;
    next_ text;
BEGIN
    FOR i IN 0..octet_length(bytes) - 1 LOOP
        byte := get_byte(bytes, i);
        next_ := CASE WHEN byte BETWEEN 32 AND 126 THEN chr(byte)
            ELSE '\x' || lpad(to_hex(byte), 2, '0') END;
        IF length(shown) + length(next_) > 44 THEN
            RETURN shown || '...';
        END IF;
        shown := shown || next_;
    END LOOP;
    RETURN shown;
END $$;

CREATE FUNCTION refuse(sentence text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'TH002', MESSAGE = sentence;
END $$;

CREATE FUNCTION is_blank(text_ text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT text_ IS NULL OR text_ ~ '^[ \t\n\v\f\r]*$';
$$;

CREATE FUNCTION check_name(field text, name_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    allowed CONSTANT text := 'use 1 to 128 of A-Z a-z 0-9 _ . : -';
BEGIN
    IF is_blank(name_) THEN
        PERFORM refuse(format('%s is blank: %s', field, allowed));
    ELSIF name_ ~ '[^A-Za-z0-9_.:-]' THEN
        PERFORM refuse(format('%s ''%s'' has a character that is not allowed: %s', field,
            excerpt(name_), allowed));
    ELSIF length(name_) > 128 THEN
        PERFORM refuse(format('%s ''%s'' is %s characters long: %s', field, excerpt(name_),
            length(name_), allowed));
    END IF;
END $$;

CREATE FUNCTION check_range(field text, value_ bigint, max_ bigint, allowed text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF value_ < 0 OR value_ > max_ THEN
        PERFORM refuse(format('%s is out of range: use %s', field, allowed));
    END IF;
END $$;

CREATE FUNCTION check_within(field text, count_ int, max_ int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF max_ > 0 AND count_ > max_ THEN
        PERFORM refuse(format('%s %s is over max_%s %s: use at most as many', field, count_, field,
            max_));
    END IF;
END $$;

CREATE FUNCTION check_key(field text, key_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    allowed CONSTANT text := 'use 1 to 256 bytes of UTF-8, or leave it out';
BEGIN
    IF key_ IS NULL THEN
        RETURN;
    ELSIF is_blank(key_) THEN
        PERFORM refuse(format('%s is blank: %s', field, allowed));
    ELSIF octet_length(convert_to(key_, 'UTF8')) > 256 THEN
        PERFORM refuse(format('%s is %s bytes long: %s', field,
            octet_length(convert_to(key_, 'UTF8')), allowed));
    END IF;
END $$;

-- Nobody means a time so long ago, but many take seconds for milliseconds.
CREATE FUNCTION check_run_at(run_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF run_at >= 0 AND run_at < 946684800000000 THEN
        PERFORM refuse('run_at is before the year 2000 (as a number it is microseconds since 1970)');
    END IF;
    PERFORM check_range('run_at', run_at, 253402300799999999, 'the years 2000 to 9999');
END $$;

CREATE FUNCTION refuse_depth(payload_ text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    brackets text := regexp_replace(regexp_replace(payload_, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g');
    depth int := 0;
BEGIN
    FOR i IN 1..length(brackets) LOOP
        depth := depth + CASE WHEN substr(brackets, i, 1) IN ('[', '{') THEN 1 ELSE -1 END;
        IF depth > 128 THEN
            PERFORM refuse('payload is not JSON: nested deeper than 128 levels '
                '(use raw for other bytes)');
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION refuse_surrogates(payload_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    payload_ := replace(payload_, '\\', '');
    payload_ := regexp_replace(payload_, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]', '', 'g');
    IF payload_ ~ '\\u[dD][89a-fA-F]' THEN
        PERFORM refuse('payload is not JSON: half a surrogate pair (use raw for other bytes)');
    END IF;
END $$;

-- What the type json lets through and src/base/json_scan.c does not: more than 128 levels, and halves of
-- surrogate pairs. Most payloads have too few brackets for the one and no \u for the other.
CREATE FUNCTION check_json(payload_ text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF length(payload_) > 256 AND length(payload_) - length(translate(payload_, '[{', '')) > 128 THEN
        PERFORM refuse_depth(payload_);
    END IF;
    IF strpos(payload_, '\u') > 0 THEN
        PERFORM refuse_surrogates(payload_);
    END IF;
END $$;

-- job_validate()
CREATE FUNCTION check_job(spec job_spec, max_payload bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF spec.id IS NULL OR spec.id = '00000000-0000-0000-0000-000000000000' THEN
        PERFORM refuse('id is missing: use a UUID other than nil');
    END IF;
    PERFORM check_name('type', spec.type);
    PERFORM check_name('queue', spec.queue);
    IF octet_length(spec.payload) > max_payload THEN
        PERFORM refuse(format('payload is %s bytes long: use at most %s',
            octet_length(spec.payload), max_payload));
    END IF;
    PERFORM check_range('priority', spec.priority, 9, '0 to 9');
    PERFORM check_run_at(spec.run_at);
    PERFORM check_range('timeout', spec.timeout, 31536000000000, '0 to 365d');
    PERFORM check_range('max_attempts', spec.max_attempts, 1000000, '0 to 1000000');
    PERFORM check_range('max_stalls', spec.max_stalls, 1000000, '0 to 1000000');
    PERFORM check_range('attempts', spec.attempts, 1000000, '0 to 1000000');
    PERFORM check_range('stalls', spec.stalls, 1000000, '0 to 1000000');
    PERFORM check_within('attempts', spec.attempts, spec.max_attempts);
    PERFORM check_within('stalls', spec.stalls, spec.max_stalls);
    PERFORM check_key('key', spec.key);
    PERFORM check_key('idempotency_key', spec.idempotency_key);
    IF spec.idempotency_key IS NOT NULL THEN
        PERFORM check_range('idempotency_expires', spec.idempotency_expires, 253402300799999999,
            'the years 1970 to 9999');
    END IF;
END $$;

-- ---- the way in ----

CREATE FUNCTION produce(spec job_spec, now_ bigint, max_payload bigint) RETURNS enqueued
LANGUAGE plpgsql AS $$
DECLARE
    answer enqueued;
BEGIN
    IF is_blank(spec.idempotency_key) THEN
        spec.idempotency_key := NULL;
    END IF;
    PERFORM check_job(spec, max_payload);
    spec.run_at := nullif(spec.run_at, 0);
    spec.timeout := nullif(spec.timeout, 0);
    spec.max_attempts := nullif(spec.max_attempts, 0);
    spec.max_stalls := nullif(spec.max_stalls, 0);
    answer := enqueue_one(spec, now_, '');
    IF answer.state = 1 AND NOT answer.existed THEN
        PERFORM ring_with_commit();
    END IF;
    RETURN answer;
END $$;

-- UUIDv7: milliseconds, a fraction of them, and random bits.
CREATE FUNCTION make_id(now_ bigint) RETURNS uuid LANGUAGE sql AS $$
    SELECT encode(substr(int8send(now_ / 1000), 3)
        || int2send((28672 + (now_ % 1000) * 4096 / 1000)::smallint)
        || substr(uuid_send(gen_random_uuid()), 9), 'hex')::uuid;
$$;

CREATE FUNCTION to_usec(duration interval) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT (extract(epoch FROM duration) * 1000000)::bigint;
$$;

CREATE FUNCTION run_at_flag(word text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    place int := array_position(ARRAY['always', 'never', 'if_earlier', 'if_later'], word);
BEGIN
    IF place IS NULL THEN
        PERFORM refuse('update_run_at is always, never, if_earlier or if_later');
    END IF;
    RETURN place - 1;
END $$;

-- One job as its producer says it; what is NULL is absent. The limits are those that thd has written from its
-- config. Called by the functions below, which have set search_path and rights.
CREATE FUNCTION offer(type text, payload bytea, encoding text, queue text, run_at timestamptz,
    priority int, timeout interval, max_attempts int, max_stalls int, key text,
    idempotency_key text, idempotency_window interval, update_payload boolean, update_run_at text,
    update_retry boolean, reset_counts boolean, id uuid)
RETURNS enqueued LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    now_ bigint := to_usec(clock_timestamp() - 'epoch'::timestamptz);
    duration bigint := to_usec(idempotency_window);
    limits meta;
    spec job_spec;
BEGIN
    SELECT * INTO limits FROM meta;
    IF encoding NOT IN ('json', 'raw') THEN
        PERFORM refuse('encoding is json or raw');
    END IF;
    IF run_at IN ('infinity'::timestamptz, '-infinity'::timestamptz) THEN
        PERFORM refuse('run_at is out of range: use the years 2000 to 9999');
    END IF;
    PERFORM check_range('priority', priority, 9, '0 to 9');
    PERFORM check_range('idempotency_window', duration, 31536000000000, '0 to 365d');
    spec.id := coalesce(id, make_id(now_));
    spec.type := type;
    spec.queue := coalesce(queue, 'default');
    spec.encoding := (encoding = 'raw')::int;
    spec.payload := payload;
    spec.priority := coalesce(priority, 5);
    spec.run_at := to_usec(run_at - 'epoch'::timestamptz);
    spec.timeout := to_usec(timeout);
    spec.max_attempts := max_attempts;
    spec.max_stalls := max_stalls;
    spec.attempts := 0;
    spec.stalls := 0;
    spec.key := key;
    spec.update_flags := coalesce(update_payload, true)::int + 2 * coalesce(update_retry, true)::int
        + 4 * coalesce(reset_counts, false)::int + 8 * run_at_flag(coalesce(update_run_at, 'always'));
    spec.idempotency_key := idempotency_key;
    spec.idempotency_expires := least(now_ + coalesce(duration, limits.idempotency_window),
        253402300799999999);
    RETURN produce(spec, now_, limits.max_payload);
END $$;

-- All of it, for those who want to know what became of their request.
CREATE FUNCTION enqueue_full(type text, payload bytea, encoding text, queue text, run_at timestamptz,
    priority int, timeout interval, max_attempts int, max_stalls int, key text,
    idempotency_key text, idempotency_window interval, update_payload boolean, update_run_at text,
    update_retry boolean, reset_counts boolean, id uuid)
RETURNS TABLE (job uuid, state text, existed boolean, updated boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
DECLARE
    answer enqueued := offer(type, payload, encoding, queue, run_at, priority, timeout, max_attempts,
        max_stalls, key, idempotency_key, idempotency_window, update_payload, update_run_at,
        update_retry, reset_counts, id);
BEGIN
    RETURN QUERY SELECT answer.id,
        (ARRAY['scheduled', 'ready', 'blocked', 'running', 'retry', 'done', 'dead', 'cancelled'])
            [answer.state + 1],
        answer.existed, answer.updated;
END $$;

-- A payload that is JSON. The answer is the id of the job that now stands for this request. There is one for each
-- type that a payload may have; a literal, and none at all, is text.
CREATE FUNCTION enqueue(type text, payload text DEFAULT 'null', queue text DEFAULT 'default',
    run_at timestamptz DEFAULT NULL, priority int DEFAULT 5, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
BEGIN
    payload := coalesce(payload::json::text, 'null');
    PERFORM check_json(payload);
    RETURN (offer(type, convert_to(payload, 'UTF8'), 'json', queue, run_at, priority, timeout,
        max_attempts, max_stalls, key, idempotency_key, idempotency_window, update_payload,
        update_run_at, update_retry, reset_counts, id)).id;
END $$;

CREATE FUNCTION enqueue(type text, payload json, queue text DEFAULT 'default',
    run_at timestamptz DEFAULT NULL, priority int DEFAULT 5, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
BEGIN
    payload := coalesce(payload, 'null');
    PERFORM check_json(payload::text);
    RETURN (offer(type, convert_to(payload::text, 'UTF8'), 'json', queue, run_at, priority, timeout,
        max_attempts, max_stalls, key, idempotency_key, idempotency_window, update_payload,
        update_run_at, update_retry, reset_counts, id)).id;
END $$;

CREATE FUNCTION enqueue(type text, payload jsonb, queue text DEFAULT 'default',
    run_at timestamptz DEFAULT NULL, priority int DEFAULT 5, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
BEGIN
    payload := coalesce(payload, 'null');
    PERFORM check_json(payload::text);
    RETURN (offer(type, convert_to(payload::text, 'UTF8'), 'json', queue, run_at, priority, timeout,
        max_attempts, max_stalls, key, idempotency_key, idempotency_window, update_payload,
        update_run_at, update_retry, reset_counts, id)).id;
END $$;

-- A payload that is any bytes.
CREATE FUNCTION enqueue_raw(type text, payload bytea DEFAULT '', queue text DEFAULT 'default',
    run_at timestamptz DEFAULT NULL, priority int DEFAULT 5, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
BEGIN
    RETURN (offer(type, coalesce(payload, ''), 'raw', queue, run_at, priority, timeout,
        max_attempts, max_stalls, key, idempotency_key, idempotency_window, update_payload,
        update_run_at, update_retry, reset_counts, id)).id;
END $$;

-- ---- who may ----

-- GRANT taskharbor_producer TO somebody: they may enqueue, and nothing else. enqueue_full takes bytes
-- unseen, so it stays with the owner.
CREATE FUNCTION grant_producers() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    signature text;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO taskharbor_producer', current_schema());
    FOR signature IN SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = current_schema()::regnamespace AND p.proname IN ('enqueue', 'enqueue_raw')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO taskharbor_producer', signature);
    END LOOP;
END $$;

-- A user who may not make roles migrates without it, and is told so.
DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC', current_schema());
    BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'taskharbor_producer') THEN
            CREATE ROLE taskharbor_producer NOLOGIN;
        END IF;
    EXCEPTION
        WHEN insufficient_privilege THEN RETURN;
        WHEN duplicate_object OR unique_violation THEN NULL;
    END;
    PERFORM grant_producers();
END $$;
