-- Jobs and queues for people who look at them by SQL.

-- A part of the view for each place where a job can stand: WHERE state = '…' leaves out all others. Each
-- begins with the index of its place (public/plans.sql says how), and all else is joined from there:
-- what nobody asks for is not looked at, and a LIMIT ends it early. The columns of all are the same;
-- what a place does not have is NULL.
DO $$
DECLARE
    not_aside CONSTANT text := 'NULL::smallint AS why, NULL::bigint AS since, NULL::bytea AS error';
    nothing CONSTANT text := 'NULL::bigint AS executions, NULL::int AS attempts, NULL::int AS stalls,
        NULL::bigint AS started_at, NULL::bigint AS ended_at, NULL::text AS pool, NULL::int AS worker,
        NULL::bigint AS cancel_requested_at, NULL::uuid AS merged_into, NULL::int AS exit_code';
    -- The state, where such jobs are, and how one that is known is found among them.
    places text[] := ARRAY[
        ['ready', format('SELECT *, %s, %s FROM ready', nothing, not_aside),
            'j.queue_id = p.queue_id AND j.priority = p.priority AND j.due = p.due'],
        ['ready', format('SELECT *, %s FROM aside', nothing), 'true'],
        ['running', format('SELECT queue_id, seq, execution AS executions, NULL::int AS attempts,
            NULL::int AS stalls, started_at, NULL::bigint AS ended_at, pool, worker,
            cancel_requested_at, NULL::uuid AS merged_into, NULL::int AS exit_code, %s FROM leases',
            not_aside), 'j.queue_id = p.queue_id']];
    word text;
    number int;
BEGIN
    FOR word, number IN VALUES ('scheduled', :JOB_SCHEDULED), ('blocked', :JOB_BLOCKED),
        ('retry', :JOB_RETRY)
    LOOP
        places := places || ARRAY[[word, format('SELECT *, %s, %s FROM waiting
            WHERE state = by_index(%s::smallint)', nothing, not_aside, number), 'j.due = p.due']];
    END LOOP;
    FOR word, number IN VALUES ('done', :JOB_DONE), ('dead', :JOB_DEAD),
        ('cancelled', :JOB_CANCELLED)
    LOOP
        places := places || ARRAY[[word, format('SELECT *, %s FROM ended
            WHERE state = by_index(%s::smallint)', not_aside, number), 'true']];
    END LOOP;
    EXECUTE 'CREATE OR REPLACE VIEW jobs AS ' || (SELECT string_agg(format('
        SELECT j.id, j.type, q.name AS queue, %1$L::text AS state,
            CASE j.encoding WHEN :JOB_JSON THEN ''json'' ELSE ''raw'' END AS encoding,
            text_of(j.payload) AS payload, j.priority::int AS priority, moment_of(j.run_at) AS run_at,
            duration_of(j.timeout) AS timeout, coalesce(p.attempts, j.attempts) AS attempts,
            j.max_attempts, coalesce(p.stalls, j.stalls) AS stalls, j.max_stalls,
            coalesce(p.executions, j.executions) AS executions, j.key, j.idempotency_key,
            moment_of(j.created_at) AS created_at, moment_of(p.started_at) AS started_at,
            moment_of(p.ended_at) AS ended_at, moment_of(d.failed_at) AS failed_at,
            text_of(coalesce(p.error, d.last_error)) AS last_error, reason_word(d.reason) AS reason,
            CASE p.why WHEN :ASIDE_NO_HANDLER THEN ''no_handler''
                WHEN :ASIDE_CANNOT_START THEN ''cannot_start'' END AS aside,
            moment_of(p.since) AS aside_since,
            CASE WHEN %1$L = ''done'' THEN p.exit_code ELSE d.exit_code END AS exit_code,
            CASE WHEN %1$L <> ''done'' THEN d.signal END AS signal, p.pool, p.worker,
            d.progress_percent::int AS progress_percent, text_of(d.progress_text) AS progress_text,
            text_of(d.result) AS result, text_of(d.output) AS output,
            moment_of(p.cancel_requested_at) AS cancel_requested_at, p.merged_into,
            text_of(j.headers) AS headers, string_to_array(j.tags, '' '') AS tags
        FROM (%2$s) p LEFT JOIN job j ON j.seq = p.seq AND %3$s
            LEFT JOIN (SELECT queue_id, min(name) AS name FROM queue_name GROUP BY queue_id) q
                ON q.queue_id = p.queue_id
            LEFT JOIN detail d ON d.seq = p.seq
        WHERE few(p.queue_id, p.seq)', places[i][1], places[i][2], places[i][3]), ' UNION ALL ')
        FROM generate_series(1, array_length(places, 1)) i);
END $$;

-- A row per queue, as thctl stats has it.
CREATE OR REPLACE VIEW stats AS
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
