-- Every statement of the PostgreSQL driver, by name: SQL_EXCHANGE is `exchange`. Parameters are
-- added and columns read in the order they stand here; see statement.h and answer.h.

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY
-- name: commit
COMMIT
-- name: rollback
ROLLBACK
-- name: clock
SELECT (extract(epoch FROM clock_timestamp()) * :USEC_PER_SEC)::bigint
-- name: read_only
SELECT 1 WHERE current_setting('transaction_read_only')::boolean
-- name: schema
SELECT version, usable_from,
    NOT has_function_privilege(to_regprocedure('enqueue_items(json, bigint)'), 'EXECUTE'),
    (SELECT digest FROM installed WHERE part = $1::text),
    (SELECT digest FROM installed WHERE part = 'views'),
    pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'meta'::regclass), 'USAGE')
FROM meta
-- name: unreleased_schema
SELECT 1 WHERE to_regclass('meta') IS NOT NULL AND to_regclass('installed') IS NULL
-- name: no_roles
SELECT 1 FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND (
    (p.proname = 'enqueue' AND NOT EXISTS (
        SELECT FROM pg_roles r WHERE r.rolname = 'taskharbor_producer'
            AND has_function_privilege(r.oid, p.oid, 'EXECUTE')))
    OR (p.proname = 'wait_for' AND NOT EXISTS (
        SELECT FROM pg_roles r WHERE r.rolname = 'taskharbor_reader'
            AND has_function_privilege(r.oid, p.oid, 'EXECUTE'))))

-- The bell ----------------------------------------------------------------------------------

-- name: ring
SELECT ring()
-- name: arm
SELECT armed, producing FROM arm($1::int)
-- name: is_producing
SELECT is_producing()
-- name: disarm
SELECT pg_advisory_unlock_shared(lock_class(:LOCK_BELL), :LOCK_SLEEPS)
-- name: channel
SELECT 'taskharbor_' || 'queue'::regclass::oid

-- The path of a job -------------------------------------------------------------------------

-- name: enqueue_plain
SELECT n, state_ FROM enqueue_plain($1::bigint, $2::boolean, $3::text[], $4::int[], $5::uuid[],
    $6::text[], $7::bytea[], $8::int[], $9::int[], $10::int[], $11::int[], $12::int[], $13::int[],
    $14::bigint[], $15::bigint[], $16::bytea[])
-- name: enqueue_groups
SELECT refused, id, state, existed, updated, conflict
FROM enqueue_groups($1::json, $2::int[], $3::bigint)
-- name: enqueue_checked
SELECT id, state, existed, updated FROM enqueue_checked($1::json)
-- name: exchange
SELECT what, n, code, seq, id, type, encoding, priority, due, run_at, timeout, max_attempts,
    max_stalls, attempts, stalls, executions, created_at, key, update_flags, idempotency_key, payload,
    headers, tags
FROM exchange($1::bigint, $2::text[], $3::int[], $4::int[], $5::boolean[], $6::bytea[], $7::int[],
    $8::varbit[], $9::int[], $10::uuid[], $11::bigint[], $12::bytea[], $13::int[], $14::bigint[],
    $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::int[], $20::json, $21::text[],
    $22::bytea[], $23::bigint, $24::bigint[], $25::bigint[], $26::bigint, $27::bigint[], $28::text[],
    $29::int[], $30::int[], $31::int[], $32::int[], $33::bigint[], $34::bigint[], $35::bigint[],
    $36::bigint[], $37::int[], $38::int[], $39::bigint[], $40::bigint[], $41::int[], $42::boolean[],
    $43::boolean)
-- name: pool_lock
SELECT pool_lock($1::text)
-- name: held
SELECT l.seq, j.id, j.type, j.encoding, j.priority, j.due, j.run_at, j.timeout,
    j.max_attempts, j.max_stalls, j.attempts, j.stalls, l.execution, j.created_at, j.key,
    j.update_flags, j.idempotency_key, j.payload, q.name, l.token, l.expires_at, l.started_at,
    l.worker, l.cancel_requested_at, j.headers, j.tags
FROM leases l CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = l.seq OFFSET 0) j
    JOIN queue q ON q.queue_id = l.queue_id
WHERE l.pool = $1::text
ORDER BY l.seq
-- name: heartbeat
SELECT n, verdict, cancel, watched, want, wanted_at FROM heartbeat($1::text[], $2::bytea[], $3::bigint,
    $4::text[], $5::uuid[], $6::bigint[], $7::bytea[], $8::bigint[], $9::int[], $10::int[],
    $11::bytea[], $12::bytea[], $13::boolean)

-- name: watch
SELECT watch_jobs($1::uuid[], $2::bigint, $3::bigint)

-- Upkeep ------------------------------------------------------------------------------------

-- name: promote
SELECT moved, next_due FROM promote($1::int, $2::bigint, $3::bigint)
-- name: reclaim
SELECT reclaim($1::bigint, $2::bigint, $3::boolean), has_rung()
-- name: aside_types
SELECT queue, type, why, since FROM aside_types($1::text[])
-- name: bring_back
SELECT bring_back($1::text, $2::text, $3::int, $4::bigint, $5::bigint)
-- name: give_up
SELECT give_up($1::text, $2::text, $3::int, $4::bigint, $5::bytea, $6::int, $7::bigint, $8::bigint)
-- name: prune
SELECT prune($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint)
-- name: publish
UPDATE meta SET max_payload = $1::bigint, idempotency_window = $2::bigint
WHERE (max_payload, idempotency_window) IS DISTINCT FROM ($1::bigint, $2::bigint)
-- name: cron_enqueue
SELECT cron_enqueue($1::text, $2::bigint, $3::bigint, $4::json, $5::bigint)
-- name: cron_last
SELECT slot, paused_at, paused_by FROM cron WHERE name = $1::text
-- name: cron_pause
INSERT INTO cron AS last (name, slot, paused_at, paused_by)
VALUES ($1::text, $2::bigint, $3::bigint, $4::text)
ON CONFLICT (name) DO UPDATE SET paused_at = coalesce(last.paused_at, excluded.paused_at),
    paused_by = CASE WHEN last.paused_at IS NULL THEN excluded.paused_by ELSE last.paused_by END
-- name: cron_resume
UPDATE cron SET slot = CASE WHEN slot > $3::bigint THEN $2::bigint ELSE greatest(slot, $2::bigint) END,
    paused_at = NULL, paused_by = NULL
WHERE name = $1::text AND paused_at IS NOT NULL
-- name: cron_mark
INSERT INTO cron AS last (name, slot) VALUES ($1::text, $2::bigint)
ON CONFLICT (name) DO UPDATE SET slot = excluded.slot WHERE last.slot > $3::bigint
-- name: pool_put
INSERT INTO pool (name, host, pid, started_at, beat_at, status)
VALUES ($1::text, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::bytea)
ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid,
    started_at = excluded.started_at, beat_at = excluded.beat_at, status = excluded.status,
    want = 0, wanted_at = NULL, wanted_by = NULL
-- name: pools
SELECT name, host, pid, started_at, beat_at, status, want, wanted_at, wanted_by FROM pool
ORDER BY name
-- name: pool_want
UPDATE pool SET want = $2::int, wanted_at = $3::bigint, wanted_by = $4::text
WHERE name = $1::text RETURNING name
-- name: pool_remove
DELETE FROM pool WHERE name = $1::text RETURNING name
-- name: pools_remove_silent
WITH silent AS (DELETE FROM pool WHERE name = ANY (ARRAY(
    SELECT name FROM pool WHERE beat_at < $1::bigint FOR UPDATE SKIP LOCKED)) RETURNING *)
SELECT name, host, pid, started_at, beat_at, status, want, wanted_at, wanted_by FROM silent
ORDER BY name

-- For people --------------------------------------------------------------------------------

-- name: cancel
SELECT * FROM repair('cancel', $1::uuid[], NULL, $2::bigint)
-- name: run_now
SELECT * FROM repair('run now', $1::uuid[], NULL, $2::bigint)
-- name: requeue
SELECT * FROM repair('requeue', $1::uuid[], $2::bigint, $3::bigint)
-- name: remove
SELECT * FROM repair('remove', $1::uuid[], NULL, NULL)
-- name: set_paused
SELECT set_paused($1::text, $2::bigint, $3::text)
-- name: hide_queue
SELECT hide_queue($1::text)
-- name: count_before
SELECT count_before($1::uuid, $2::bigint)
-- name: get
SELECT * FROM job_view WHERE id = $1::uuid
-- name: list_page
SELECT seqs, more, at, ref, id FROM list_page($1::bigint, $2::bigint, $3::bigint, $4::bigint,
    $5::text, $6::int, $7::text, $8::text, $9::bytea, $10::uuid, $11::uuid, $12::int::boolean,
    $13::int::boolean, $14::int, $15::int, $16::text)
-- Of a page that has 16 MiB already ($3), the next one comes without: nobody reads it.
-- name: list_jobs
SELECT v.seq, v.id, v.type, v.queue, v.state, v.encoding,
    CASE WHEN v.before < $3::bigint THEN v.payload END, v.priority, v.due, v.run_at,
    v.timeout, v.attempts, v.max_attempts, v.executions, v.stalls, v.max_stalls, v.key,
    v.update_flags, v.idempotency_key, v.created_at, v.started_at, v.ended_at, v.token,
    v.expires_at, v.pool, v.worker, v.cancel_requested_at, v.merged_into, v.last_error,
    v.failed_at, v.reason, v.exit_code, v.signal, v.progress_percent, v.progress_text,
    CASE WHEN v.before < $3 THEN v.result END, CASE WHEN v.before < $3 THEN v.output END,
    v.aside, v.aside_since, CASE WHEN v.before < $3 THEN v.headers END, v.tags
FROM (SELECT j.*, u.n, sum(j.size) OVER (ORDER BY u.n) - j.size AS before
    FROM unnest($1::bigint[]) WITH ORDINALITY u (seq, n) CROSS JOIN LATERAL (
        SELECT *, CASE WHEN $2::int::boolean THEN 0 ELSE octet_length(payload)
            + coalesce(octet_length(result), 0) + coalesce(octet_length(output), 0) END AS size
        FROM job_view WHERE seq = u.seq OFFSET 0) j) v
ORDER BY v.n
-- name: runs
SELECT seq, execution, outcome, pool, worker, started_at, wall, user_time, system_time, max_rss_kb,
    exit_code, signal, error
FROM run WHERE seq = ANY ($1::bigint[])
UNION ALL
SELECT seq, executions, :RUN_DONE, pool, worker, started_at, wall, user_time, system_time, max_rss_kb,
    exit_code, NULL, NULL
FROM ended WHERE seq = ANY ($1) AND wall IS NOT NULL
ORDER BY 1, 2
-- The limit comes before the join, so that no more jobs are looked at than are shown.
-- name: failures
SELECT id, type, queue, state, attempts, max_attempts, last_error, failed_at, reason
FROM newest_failures($1::bigint)
-- The oldest is looked for in each priority, by the index. The last column is the same in all rows.
-- name: stats
WITH added AS MATERIALIZED (
    SELECT queue_id, sum(scheduled)::bigint AS scheduled, sum(ready)::bigint AS ready,
        sum(blocked)::bigint AS blocked, sum(running)::bigint AS running, sum(retry)::bigint AS retry,
        sum(done)::bigint AS done, sum(dead)::bigint AS dead, sum(cancelled)::bigint AS cancelled,
        sum(no_handler)::bigint AS no_handler, sum(cannot_start)::bigint AS cannot_start,
        sum(done_total)::bigint AS done_total, sum(failed_total)::bigint AS failed_total,
        sum(deltas)::bigint AS deltas
    FROM counts GROUP BY queue_id)
SELECT q.name, p.paused_at, p.paused_by, p.spent_until, c.done_total, c.failed_total,
    c.scheduled, c.ready, c.blocked, c.running, c.retry, c.done, c.dead, c.cancelled, c.no_handler, c.cannot_start,
    least((SELECT min(o.due) FROM generate_series(0, :JOB_PRIORITY_MAX) g (priority) CROSS JOIN LATERAL (
            SELECT r.due FROM ready r
            WHERE r.queue_id = q.queue_id AND r.priority = g.priority::smallint
            ORDER BY r.due, r.seq LIMIT 1) o
        WHERE c.ready > 0),
        (SELECT a.due FROM aside a WHERE a.queue_id = q.queue_id ORDER BY a.due, a.seq LIMIT 1)),
    (SELECT sum(deltas)::bigint FROM added)
FROM queue_name q LEFT JOIN queue p ON p.queue_id = q.queue_id
    LEFT JOIN added c ON c.queue_id = q.queue_id
WHERE p.hidden_totals IS NULL OR coalesce(c.done_total, 0) + coalesce(c.failed_total, 0) <> p.hidden_totals
    OR coalesce(c.scheduled, 0) + coalesce(c.ready, 0) + coalesce(c.blocked, 0) + coalesce(c.running, 0)
        + coalesce(c.retry, 0) + coalesce(c.done, 0) + coalesce(c.dead, 0) + coalesce(c.cancelled, 0) <> 0
ORDER BY q.name
-- name: add_up_counts
SELECT add_up_counts()
