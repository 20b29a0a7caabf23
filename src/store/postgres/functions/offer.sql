-- One job as its producer says it.

-- What became of an offer. One that is refused has a code, which is its SQLSTATE, a sentence, and maybe
-- a hint.
CREATE TYPE offered AS (id uuid, state smallint, existed boolean, updated boolean, code text,
    sentence text, hint text);

-- What else there is to say. NULL when the sentence says it all.
CREATE FUNCTION hint_of(code text, sentence text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN code = 'TH001' THEN 'Use another key, or enqueue it again when that job has ended.'
    WHEN sentence ~ '^(job \d+: )?payload is not JSON' THEN
        'enqueue_raw() takes any bytes, and so does payload_base64 of enqueue_many().'
    WHEN sentence ~ '^(job \d+: )?payload is \d+ bytes' THEN
        'The limit is max_payload of jobs.yaml: thd and thctl migrate keep it here.'
END;

CREATE FUNCTION refused(code text, sentence text) RETURNS offered LANGUAGE sql IMMUTABLE
RETURN ROW(NULL, NULL, NULL, NULL, code, sentence, hint_of(code, sentence))::offered;

-- It runs with the caller's search_path, and so names nothing.
CREATE FUNCTION answer(offer offered) RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    IF offer.sentence IS NULL THEN
        RETURN offer.id;
    ELSIF offer.hint IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = offer.code, MESSAGE = offer.sentence;
    END IF;
    RAISE EXCEPTION USING ERRCODE = offer.code, MESSAGE = offer.sentence, HINT = offer.hint;
END $$;

-- What is 0 or blank is absent.
CREATE FUNCTION without_blanks(spec job_spec) RETURNS job_spec LANGUAGE plpgsql AS $$
BEGIN
    spec.run_at := nullif(spec.run_at, 0);
    spec.timeout := nullif(spec.timeout, 0);
    spec.max_attempts := nullif(spec.max_attempts, 0);
    spec.max_stalls := nullif(spec.max_stalls, 0);
    RETURN spec;
END $$;

CREATE FUNCTION produce(spec job_spec, now_ bigint, max_payload bigint) RETURNS offered
LANGUAGE plpgsql AS $$
DECLARE
    wrong text;
    stored enqueued;
BEGIN
    IF is_blank(spec.idempotency_key) THEN
        spec.idempotency_key := NULL;
    END IF;
    wrong := check_job(spec, max_payload);
    IF wrong IS NOT NULL THEN
        RETURN refused('TH002', wrong);
    END IF;
    stored := enqueue_one(without_blanks(spec), now_);
    IF stored.conflict IS NOT NULL THEN
        RETURN refused('TH001', stored.conflict);
    END IF;
    IF NOT stored.existed AND (stored.state = :JOB_READY
        OR stored.state = :JOB_SCHEDULED AND spec.run_at <= now_ + :JOB_SOON)
    THEN
        PERFORM ring_with_commit();
    END IF;
    RETURN ROW(stored.id, stored.state, stored.existed, stored.updated, NULL, NULL, NULL)::offered;
END $$;

-- UUIDv7: milliseconds, a fraction of them, and random bits.
CREATE FUNCTION make_id(now_ bigint) RETURNS uuid LANGUAGE sql
RETURN encode(substr(int8send(now_ / 1000), 3)
    || int2send((28672 + (now_ % 1000) * 4096 / 1000)::smallint)
    || substr(uuid_send(gen_random_uuid()), 9), 'hex')::uuid;

-- Beyond what a bigint holds, it is as out of range as can be.
CREATE FUNCTION usec_of(seconds numeric) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN CASE WHEN seconds IS NOT NULL THEN
    greatest(least(seconds * :USEC_PER_SEC, 9000000000000000000), -1)::bigint END;

CREATE FUNCTION usec_of(duration interval) RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN usec_of(extract(epoch FROM duration));

CREATE FUNCTION usec_of(moment timestamptz) RETURNS bigint LANGUAGE sql STABLE
RETURN usec_of(extract(epoch FROM moment));

CREATE FUNCTION pack_flags(update_payload boolean, update_run_at text, update_retry boolean,
    reset_counts boolean) RETURNS smallint LANGUAGE sql IMMUTABLE
RETURN (CASE WHEN coalesce(update_payload, true) THEN :KEYED_PAYLOAD ELSE 0 END
    | CASE WHEN coalesce(update_retry, true) THEN :KEYED_RETRY ELSE 0 END
    | CASE WHEN reset_counts THEN :KEYED_RESET_COUNTS ELSE 0 END
    | (CASE coalesce(update_run_at, 'always')
        WHEN 'always' THEN :UPDATE_RUN_AT_ALWAYS WHEN 'never' THEN :UPDATE_RUN_AT_NEVER
        WHEN 'if_earlier' THEN :UPDATE_RUN_AT_IF_EARLIER WHEN 'if_later' THEN :UPDATE_RUN_AT_IF_LATER
    END << :KEYED_RUN_AT_SHIFT))::smallint;

-- What a job_spec cannot hold any more.
CREATE FUNCTION check_words(priority int, idempotency_window interval, update_run_at text) RETURNS text
LANGUAGE sql STABLE
RETURN coalesce(
    check_range('priority', priority, :JOB_PRIORITY_MAX, '0 to :JOB_PRIORITY_MAX'),
    check_range('idempotency_window', usec_of(idempotency_window), :JOB_TIMEOUT_MAX,
        '0 to 365d'),
    CASE WHEN update_run_at NOT IN ('always', 'never', 'if_earlier', 'if_later') THEN
        'update_run_at is always, never, if_earlier or if_later' END);

-- One job as its producer says it; what is NULL is absent. The limits are those that thd has written from its
-- config. Whoever may enqueue may call this, too: it believes nothing.
CREATE FUNCTION offer(type text, payload bytea, encoding text, queue text, run_at timestamptz,
    priority int, timeout interval, max_attempts int, max_stalls int, key text,
    idempotency_key text, idempotency_window interval, update_payload boolean, update_run_at text,
    update_retry boolean, reset_counts boolean, id uuid, headers bytea, tags text[])
RETURNS offered LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_variable
DECLARE
    now_ bigint := usec_of(clock_timestamp());
    wrong text := check_words(priority, idempotency_window, update_run_at);
    limits meta;
    spec job_spec;
BEGIN
    SELECT * INTO limits FROM meta;
    wrong := coalesce(wrong,
        CASE WHEN encoding = 'raw' THEN NULL WHEN encoding = 'json' THEN check_json(payload)
            ELSE 'encoding is json or raw' END);
    IF wrong IS NOT NULL THEN
        RETURN refused('TH002', wrong);
    END IF;
    spec.id := coalesce(id, make_id(now_));
    spec.type := type;
    spec.queue := coalesce(queue, :JOB_QUEUE_DEFAULT);
    spec.encoding := CASE WHEN encoding = 'raw' THEN :JOB_RAW ELSE :JOB_JSON END;
    spec.payload := coalesce(payload, '');
    spec.priority := coalesce(priority, :JOB_PRIORITY_DEFAULT);
    spec.run_at := usec_of(run_at);
    spec.timeout := usec_of(timeout);
    spec.max_attempts := max_attempts;
    spec.max_stalls := max_stalls;
    spec.attempts := 0;
    spec.stalls := 0;
    spec.key := key;
    spec.update_flags := pack_flags(update_payload, update_run_at, update_retry, reset_counts);
    spec.idempotency_key := idempotency_key;
    spec.idempotency_expires := least(now_ + coalesce(usec_of(idempotency_window),
        limits.idempotency_window), :TIMESTAMP_MAX);
    spec.headers := headers;
    spec.tags := tags;
    RETURN produce(spec, now_, limits.max_payload);
END $$;
