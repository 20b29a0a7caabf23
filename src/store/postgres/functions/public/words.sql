-- Numbers and bytes of the tables as people read them. The views use them.

CREATE OR REPLACE FUNCTION moment_of(usec bigint) RETURNS timestamptz LANGUAGE sql STABLE
RETURN 'epoch'::timestamptz + (usec / :USEC_PER_SEC) * interval '1 second'
    + (usec % :USEC_PER_SEC) * interval '1 microsecond';

CREATE OR REPLACE FUNCTION duration_of(usec bigint) RETURNS interval LANGUAGE sql IMMUTABLE
RETURN usec * interval '1 microsecond';

-- What a program wrote need not be text; then it is shown as encode(…, 'escape') does.
CREATE OR REPLACE FUNCTION text_of(bytes bytea) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN convert_from(bytes, 'UTF8');
EXCEPTION WHEN data_exception THEN
    RETURN encode(bytes, 'escape');
END $$;

CREATE OR REPLACE FUNCTION reason_word(reason smallint) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE reason
    WHEN :REASON_EXHAUSTED THEN 'exhausted' WHEN :REASON_PERMANENT THEN 'permanent'
    WHEN :REASON_STALLED THEN 'stalled' WHEN :REASON_NO_HANDLER THEN 'no_handler'
    WHEN :REASON_INVALID_PAYLOAD THEN 'invalid_payload' WHEN :REASON_CANNOT_START THEN 'cannot_start'
END;
