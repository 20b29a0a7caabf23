-- What a producer may say: the checks of job_validate() in job/job.c and of client/enqueue.c, in their
-- order and their words. Each answers the sentence that refuses, or NULL. None of them raises: see
-- answer() in offer.sql. Those in SQL are inlined by the planner, so that many jobs are checked
-- as fast as they are stored.

-- Printable ASCII as it is, any other byte as \xNN; cut with "..." when longer.
CREATE FUNCTION excerpt(text_ text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
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

CREATE FUNCTION is_blank(text_ text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN text_ IS NULL OR text_ ~ '^[ \t\n\v\f\r]*$';

CREATE FUNCTION check_name(field text, name_ text) RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN length(name_) BETWEEN 1 AND :JOB_NAME_MAX AND name_ !~ '[^A-Za-z0-9_.:-]' THEN NULL
    WHEN is_blank(name_) THEN
        format('%s is blank: use 1 to :JOB_NAME_MAX of A-Z a-z 0-9 _ . : -', field)
    WHEN name_ ~ '[^A-Za-z0-9_.:-]' THEN
        format('%s ''%s'' has a character that is not allowed: '
            'use 1 to :JOB_NAME_MAX of A-Z a-z 0-9 _ . : -', field, excerpt(name_))
    ELSE
        format('%s ''%s'' is %s characters long: use 1 to :JOB_NAME_MAX of A-Z a-z 0-9 _ . : -', field,
            excerpt(name_), length(name_))
END;

CREATE FUNCTION check_range(field text, value_ bigint, max_ bigint, allowed text) RETURNS text
LANGUAGE sql STABLE
RETURN CASE WHEN value_ < 0 OR value_ > max_ THEN
    format('%s is out of range: use %s', field, allowed) END;

CREATE FUNCTION check_within(field text, count_ int, max_ int) RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN max_ > 0 AND count_ > max_ THEN
    format('%s %s is over max_%s %s: use at most as many', field, count_, field, max_) END;

CREATE FUNCTION check_key(field text, key_ text) RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN key_ IS NULL THEN NULL
    WHEN is_blank(key_) THEN
        format('%s is blank: use 1 to :JOB_KEY_MAX bytes of UTF-8, or leave it out', field)
    WHEN octet_length(convert_to(key_, 'UTF8')) > :JOB_KEY_MAX THEN
        format('%s is %s bytes long: use 1 to :JOB_KEY_MAX bytes of UTF-8, or leave it out', field,
            octet_length(convert_to(key_, 'UTF8')))
END;

-- Nobody means a time so long ago, but many take seconds for milliseconds.
CREATE FUNCTION check_run_at(run_at bigint) RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN run_at >= 0 AND run_at < :TIMESTAMP_2000 THEN
        'run_at is before the year 2000 (as a number it is microseconds since 1970)'
    ELSE check_range('run_at', run_at, :TIMESTAMP_MAX, 'the years 2000 to 9999')
END;

CREATE FUNCTION check_payload(size bigint, max_payload bigint) RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN size > max_payload THEN
    format('payload is %s bytes long: use at most %s', size, max_payload) END;

CREATE FUNCTION is_object(text_ bytea) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN check_json(text_) IS NULL AND json_typeof(convert_from(text_, 'UTF8')::json) = 'object';
END $$;

CREATE FUNCTION check_headers(headers bytea) RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN headers IS NULL THEN NULL
    WHEN octet_length(headers) > :HEADERS_MAX THEN format('headers are %s bytes long: '
        'use a JSON object of at most :HEADERS_MAX bytes, or leave them out', octet_length(headers))
    WHEN NOT is_object(headers) THEN 'headers are not a JSON object: '
        'use a JSON object of at most :HEADERS_MAX bytes, or leave them out'
END;

-- The first that is wrong.
CREATE FUNCTION wrong_tag(tags text[]) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    wrong text;
BEGIN
    FOR i IN 1..cardinality(tags) LOOP
        wrong := check_name('tag', tags[i]);
        IF wrong IS NULL AND tags[i] = ANY (tags[:i - 1]) THEN
            wrong := format('tag ''%s'' stands there twice: use it once', tags[i]);
        END IF;
        EXIT WHEN wrong IS NOT NULL;
    END LOOP;
    RETURN wrong;
END $$;

CREATE FUNCTION check_tags(tags text[]) RETURNS text LANGUAGE sql STABLE
RETURN CASE
    WHEN tags IS NULL THEN NULL
    WHEN cardinality(tags) > :TAGS_MAX THEN
        format('tags are %s: use at most :TAGS_MAX', cardinality(tags))
    ELSE wrong_tag(tags)
END;

-- job_validate(), of the fields that a job_spec has.
CREATE FUNCTION check_fields(id uuid, queue text, type text, size bigint, priority int, run_at bigint,
    timeout bigint, max_attempts int, max_stalls int, attempts int, stalls int, key text,
    idempotency_key text, idempotency_expires bigint, headers bytea, tags text[], max_payload bigint)
RETURNS text LANGUAGE sql STABLE
RETURN coalesce(
    CASE WHEN coalesce(id, '00000000-0000-0000-0000-000000000000')
        = '00000000-0000-0000-0000-000000000000' THEN 'id is missing: use a UUID other than nil' END,
    check_name('type', type),
    check_name('queue', queue),
    check_payload(size, max_payload),
    check_range('priority', priority, :JOB_PRIORITY_MAX, '0 to :JOB_PRIORITY_MAX'),
    check_run_at(run_at),
    check_range('timeout', timeout, :JOB_TIMEOUT_MAX, '0 to 365d'),
    check_range('max_attempts', max_attempts, :JOB_COUNT_MAX, '0 to :JOB_COUNT_MAX'),
    check_range('max_stalls', max_stalls, :JOB_COUNT_MAX, '0 to :JOB_COUNT_MAX'),
    check_range('attempts', attempts, :JOB_COUNT_MAX, '0 to :JOB_COUNT_MAX'),
    check_range('stalls', stalls, :JOB_COUNT_MAX, '0 to :JOB_COUNT_MAX'),
    check_within('attempts', attempts, max_attempts),
    check_within('stalls', stalls, max_stalls),
    check_key('key', key),
    check_key('idempotency_key', idempotency_key),
    CASE WHEN idempotency_key IS NOT NULL THEN check_range('idempotency_expires',
        idempotency_expires, :TIMESTAMP_MAX, 'the years 1970 to 9999') END,
    check_headers(headers),
    check_tags(tags));

CREATE FUNCTION check_job(spec job_spec, max_payload bigint) RETURNS text LANGUAGE sql STABLE
RETURN check_fields(spec.id, spec.queue, spec.type, octet_length(spec.payload), spec.priority,
    spec.run_at, spec.timeout, spec.max_attempts, spec.max_stalls, spec.attempts, spec.stalls,
    spec.key, spec.idempotency_key, spec.idempotency_expires, spec.headers, spec.tags, max_payload);

-- ---- JSON ----

CREATE FUNCTION is_too_deep(payload_ text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    brackets text := regexp_replace(regexp_replace(payload_, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g');
    depth int := 0;
BEGIN
    FOR i IN 1..length(brackets) LOOP
        depth := depth + CASE WHEN substr(brackets, i, 1) IN ('[', '{') THEN 1 ELSE -1 END;
        IF depth > :JSON_DEPTH_MAX THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END $$;

CREATE FUNCTION has_half_a_pair(payload_ text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    payload_ := replace(payload_, '\\', '');
    payload_ := regexp_replace(payload_, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]', '', 'g');
    RETURN payload_ ~ '\\u[dD][89a-fA-F]';
END $$;

-- What the type json lets through and src/base/json_scan.c does not: more than JSON_DEPTH_MAX levels,
-- and halves of surrogate pairs. Most payloads have too few brackets for the one and no \u for the other.
CREATE FUNCTION check_nesting(payload_ text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(payload_) > 2 * :JSON_DEPTH_MAX
    AND length(payload_) - length(translate(payload_, '[{', '')) > :JSON_DEPTH_MAX
    AND is_too_deep(payload_) THEN
    'payload is not JSON: nested deeper than :JSON_DEPTH_MAX levels (use raw for other bytes)' END;

CREATE FUNCTION check_pairs(payload_ text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN strpos(payload_, '\u') > 0 AND has_half_a_pair(payload_) THEN
    'payload is not JSON: half a surrogate pair (use raw for other bytes)' END;

CREATE FUNCTION check_json(payload bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    payload_ text;
    reason text;
BEGIN
    payload_ := convert_from(payload, 'UTF8');
    PERFORM payload_::json;
    RETURN coalesce(check_nesting(payload_), check_pairs(payload_));
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
    RETURN format('payload is not JSON: %s (use raw for other bytes)',
        coalesce(nullif(rtrim(reason, '.'), ''), SQLERRM));
END $$;
