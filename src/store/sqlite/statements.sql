-- Every statement of the SQLite driver, by name: SQL_BEGIN_WRITE is `begin_write`. Parameters are
-- bound and columns read in the order they stand here; see file/query.h.

-- name: begin_read
BEGIN
-- name: begin_write
BEGIN IMMEDIATE
-- name: commit
COMMIT
-- name: rollback
ROLLBACK
-- name: savepoint
SAVEPOINT part
-- name: savepoint_release
RELEASE part
-- name: savepoint_go_back
ROLLBACK TO part

-- Queues ------------------------------------------------------------------------------------

-- name: queue_find
SELECT queue_id FROM queue WHERE name = ?
-- name: queue_add
INSERT INTO queue (name) VALUES (?) RETURNING queue_id
-- name: queue_load
SELECT paused_at, next_expiry, spent_until, awaited FROM queue WHERE queue_id = ?
-- name: queue_set_paused
UPDATE queue SET paused_at = iif(?2 IS NULL, NULL, coalesce(paused_at, ?2)),
    paused_by = iif(?2 IS NULL, NULL, iif(paused_at IS NULL, ?3, paused_by))
WHERE queue_id = ?1
-- name: queue_hide
UPDATE queue SET hidden_totals = done_total + failed_total, paused_at = NULL, paused_by = NULL
WHERE queue_id = ? AND NOT (scheduled OR ready OR blocked OR running OR retry OR done OR dead OR cancelled)
-- name: queue_set_spent
UPDATE queue SET spent_until = ?2 WHERE queue_id = ?1
-- name: queue_set_awaited
UPDATE queue SET awaited = ?2 WHERE queue_id = ?1 AND awaited <> ?2
-- name: queue_tally
UPDATE queue SET done_total = done_total + ?2, failed_total = failed_total + ?3,
    scheduled = scheduled + ?4, ready = ready + ?5, blocked = blocked + ?6, running = running + ?7,
    retry = retry + ?8, done = done + ?9, dead = dead + ?10, cancelled = cancelled + ?11,
    no_handler = no_handler + ?12, cannot_start = cannot_start + ?13
WHERE queue_id = ?1
-- name: queue_expects_expiry
UPDATE queue SET next_expiry = ?2
WHERE queue_id = ?1 AND (next_expiry IS NULL OR next_expiry > ?2)
-- name: queues_expect_expiry
UPDATE queue SET next_expiry = ?1 WHERE next_expiry > ?1
-- name: queue_recompute_expiry
UPDATE queue SET next_expiry = (SELECT min(expires_at) FROM (
    SELECT expires_at FROM lease WHERE lease.queue_id = ?1
    UNION ALL SELECT expires_at FROM batch WHERE batch.queue_id = ?1))
WHERE queue_id = ?1

-- Enqueue -----------------------------------------------------------------------------------

-- name: job_add
INSERT INTO job (id, queue_id, type, encoding, priority, due, run_at, timeout, max_attempts,
    max_stalls, attempts, stalls, executions, created_at, key, update_flags, idempotency_key,
    payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
-- The same for a job that has headers or tags.
-- name: job_add_extras
INSERT INTO job (id, queue_id, type, encoding, priority, due, run_at, timeout, max_attempts,
    max_stalls, attempts, stalls, executions, created_at, key, update_flags, idempotency_key,
    payload, headers, tags)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
-- name: ready_add
INSERT INTO ready (queue_id, priority, due, seq) VALUES (?, ?, ?, ?)
-- name: ready_remove
DELETE FROM ready WHERE queue_id = ? AND priority = ? AND due = ? AND seq = ?
-- The first ones in line, up to and with this one.
-- name: ready_remove_first
DELETE FROM ready WHERE queue_id = ? AND (priority, due, seq) <= (?, ?, ?)
-- name: waiting_add
INSERT INTO waiting (state, due, seq, queue_id) VALUES (?, ?, ?, ?)
-- name: waiting_remove
DELETE FROM waiting WHERE state = ? AND due = ? AND seq = ?
-- name: idempotency_find
SELECT id, expires_at FROM idempotency WHERE queue_id = ? AND key = ?
-- name: idempotency_put
INSERT INTO idempotency (queue_id, key, id, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (queue_id, key) DO UPDATE SET id = excluded.id, expires_at = excluded.expires_at
-- name: idempotency_free
DELETE FROM idempotency WHERE id = ?

-- Keyed jobs --------------------------------------------------------------------------------

-- name: keyed_find
SELECT waiting, running FROM keyed WHERE queue_id = ? AND key = ?
-- name: keyed_put
INSERT INTO keyed (queue_id, key, waiting, running) VALUES (?, ?, ?, ?)
ON CONFLICT (queue_id, key) DO UPDATE SET waiting = excluded.waiting, running = excluded.running
-- name: keyed_remove
DELETE FROM keyed WHERE queue_id = ? AND key = ?
-- name: job_merge
UPDATE job SET priority = ?2, due = ?3, run_at = ?4, timeout = ?5, max_attempts = ?6,
    max_stalls = ?7, attempts = ?8, stalls = ?9, update_flags = ?10
WHERE seq = ?1
-- name: job_set_payload
UPDATE job SET encoding = ?2, payload = ?3, headers = ?4, tags = ?5 WHERE seq = ?1
-- name: job_copy_payload
UPDATE job SET encoding = other.encoding, payload = other.payload, headers = other.headers,
    tags = other.tags
FROM (SELECT encoding, payload, headers, tags FROM job WHERE seq = ?2) AS other
WHERE seq = ?1

-- Tags --------------------------------------------------------------------------------------

-- name: job_tags
SELECT id, tags FROM job WHERE seq = ?
-- name: tag_add
INSERT INTO tag (tag, id) VALUES (?, ?) ON CONFLICT DO NOTHING
-- name: tag_remove
DELETE FROM tag WHERE tag = ? AND id = ?

-- Where a job stands ------------------------------------------------------------------------

-- name: seq_of_id
SELECT seq FROM job WHERE id = ?
-- name: standing
SELECT seq, id, (SELECT queue_id FROM job WHERE seq = ?1), type, priority, due, run_at, timeout,
    max_attempts, max_stalls, attempts, stalls, key, update_flags, state, executions, token,
    expires_at, pool, worker, started_at, cancel_requested_at,
    (SELECT ended_by FROM ended WHERE seq = ?1), aside
FROM job_view WHERE seq = ?1

-- Reserve -----------------------------------------------------------------------------------

-- name: reserve_pick
SELECT r.seq, j.id, j.type, j.encoding, r.priority, r.due, j.run_at, j.timeout, j.max_attempts,
    j.max_stalls, j.attempts, j.stalls, j.executions, j.created_at, j.key, j.update_flags,
    j.idempotency_key, j.payload
FROM ready r JOIN job j ON j.seq = r.seq
WHERE r.queue_id = ?
ORDER BY r.priority, r.due, r.seq
LIMIT ?
-- name: job_extras
SELECT headers, tags FROM job WHERE seq = ?
-- name: lease_add
INSERT INTO lease (seq, queue_id, execution, token, expires_at, pool, started_at, traces)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
-- name: ready_any
SELECT EXISTS (SELECT 1 FROM ready WHERE queue_id = ?)
-- name: running_count
SELECT (SELECT count(*) FROM lease WHERE queue_id = ?1)
    + (SELECT coalesce(sum(open), 0) FROM batch WHERE queue_id = ?1)
-- Sorted before payloads are there.
-- name: held
SELECT l.seq, j.id, j.type, j.encoding, j.priority, j.due, j.run_at, j.timeout, j.max_attempts,
    j.max_stalls, j.attempts, j.stalls, l.execution, j.created_at, j.key, j.update_flags,
    j.idempotency_key, j.payload, q.name, l.token, l.expires_at, l.started_at, l.worker,
    l.cancel_requested_at, j.headers, j.tags
FROM (SELECT * FROM running WHERE pool = ? ORDER BY seq LIMIT -1) l
    CROSS JOIN job j ON j.seq = l.seq CROSS JOIN queue q ON q.queue_id = l.queue_id

-- Batches -----------------------------------------------------------------------------------

-- name: batch_add
INSERT INTO batch (seq, last, queue_id, token, first, expires_at, started_at, pool, open, seqs)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- name: batch_next
SELECT seq, queue_id, token, first, expires_at, started_at, pool, seqs FROM batch
WHERE token = ? AND seq > ? ORDER BY seq LIMIT 1
-- name: batch_expired
SELECT seq, queue_id, token, first, expires_at, started_at, pool, seqs FROM batch
WHERE queue_id = ? AND expires_at <= ? LIMIT 1
-- name: batch_set
UPDATE batch SET open = ?2, seqs = ?3 WHERE seq = ?1
-- name: batch_remove
DELETE FROM batch WHERE seq = ?

-- Settle ------------------------------------------------------------------------------------

-- The two ends of a job without key, error, output or earlier runs: no need to look at it first.
-- name: lease_take_plain
DELETE FROM lease WHERE seq = ? AND queue_id = ? AND token = ? AND expires_at > ? AND traces = 0
-- name: lease_remove
DELETE FROM lease WHERE seq = ?
-- name: ended_add
INSERT INTO ended (seq, state, queue_id, ended_at, executions, attempts, stalls, token, ended_by,
    traces, pool, worker, started_at, wall, user, system, max_rss_kb, exit_code,
    cancel_requested_at, merged_into)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- name: job_return
UPDATE job SET due = ?2, run_at = ?3, attempts = ?4, stalls = ?5, executions = ?6 WHERE seq = ?1
-- name: detail_failed
INSERT INTO detail (seq, last_error, failed_at, reason, exit_code, signal)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (seq) DO UPDATE SET last_error = excluded.last_error, failed_at = excluded.failed_at,
    reason = excluded.reason, exit_code = excluded.exit_code, signal = excluded.signal
-- name: detail_told
INSERT INTO detail (seq, progress_percent, progress_text, result, output) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (seq) DO UPDATE SET
    progress_text = iif(excluded.progress_percent IS NULL, progress_text, excluded.progress_text),
    progress_percent = coalesce(excluded.progress_percent, progress_percent),
    result = coalesce(excluded.result, result), output = coalesce(excluded.output, output)
-- name: run_add
INSERT INTO run (seq, execution, outcome, pool, worker, started_at, wall, user, system, max_rss_kb,
    exit_code, signal, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (seq, execution) DO NOTHING
-- name: run_trim
DELETE FROM run WHERE seq = ? AND execution <= ?
-- name: job_remove
DELETE FROM job WHERE seq = ?
-- name: job_remove_run
DELETE FROM job WHERE seq BETWEEN ? AND ?
-- name: ended_remove
DELETE FROM ended WHERE seq = ?
-- name: detail_remove
DELETE FROM detail WHERE seq = ?
-- name: run_remove
DELETE FROM run WHERE seq = ?

-- Aside -------------------------------------------------------------------------------------

-- The job's row has its place already.
-- name: aside_add
INSERT INTO aside (seq, queue_id, why, type, priority, due, since, error)
SELECT seq, queue_id, ?2, type, priority, due, ?3, ?4 FROM job WHERE seq = ?1
-- name: ready_add_aside
INSERT INTO ready (queue_id, priority, due, seq)
SELECT queue_id, priority, due, seq FROM aside WHERE seq = ?
-- name: aside_remove
DELETE FROM aside WHERE seq = ?
-- The index leads from one type to the next, however many jobs each has.
-- name: aside_types
WITH RECURSIVE line (why, type) AS (
    SELECT w.column1,
        (SELECT min(a.type) FROM aside a WHERE a.queue_id = ?1 AND a.why = w.column1)
    FROM (VALUES (1), (2)) w
    UNION ALL
    SELECT why, (SELECT min(a.type) FROM aside a
        WHERE a.queue_id = ?1 AND a.why = line.why AND a.type > line.type)
    FROM line WHERE type IS NOT NULL)
SELECT why, type, (SELECT min(since) FROM aside a
    WHERE a.queue_id = ?1 AND a.why = line.why AND a.type = line.type)
FROM line WHERE type IS NOT NULL
-- name: aside_first
SELECT seq FROM aside WHERE queue_id = ? AND why = ? AND type = ?
ORDER BY priority, due, seq LIMIT ?
-- name: aside_oldest
SELECT seq FROM aside WHERE queue_id = ?1 AND why = ?2 AND type = ?3 AND since <= ?5
ORDER BY since, seq LIMIT ?4
-- name: aside_epitaph
INSERT INTO detail (seq, last_error, failed_at, reason)
SELECT seq, coalesce(error, ?2), ?3, ?4 FROM aside WHERE seq = ?1
ON CONFLICT (seq) DO UPDATE SET last_error = excluded.last_error, failed_at = excluded.failed_at,
    reason = excluded.reason, exit_code = NULL, signal = NULL
-- name: queues_aside
SELECT name FROM queue WHERE no_handler > 0 OR cannot_start > 0 ORDER BY name
-- name: list_aside_up
SELECT due, seq FROM aside
WHERE queue_id = ?1 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due, seq LIMIT ?3
-- name: list_aside_down
SELECT due, seq FROM aside
WHERE queue_id = ?1 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due DESC, seq DESC LIMIT ?3

-- Heartbeat ---------------------------------------------------------------------------------

-- name: lease_extend
UPDATE lease SET expires_at = ?4, worker = coalesce(?5, worker)
WHERE seq = ?1 AND token = ?2 AND expires_at > ?3
RETURNING cancel_requested_at
-- name: lease_has_traces
UPDATE lease SET traces = 1 WHERE seq = ?
-- name: pool_beat
UPDATE pool SET beat_at = ?2, status = coalesce(?3, status) WHERE name = ?1
RETURNING want, wanted_at

-- name: watched
SELECT seq FROM watch WHERE until > ?
-- name: watch_put
INSERT INTO watch (seq, until) VALUES (?, ?)
ON CONFLICT (seq) DO UPDATE SET until = max(until, excluded.until)
-- name: watch_sweep
DELETE FROM watch WHERE until <= ?

-- Upkeep ------------------------------------------------------------------------------------

-- name: promote_next
SELECT min(due) FROM waiting WHERE state = ?
-- name: promote_count
SELECT w.queue_id, count(*), count(j.seq)
FROM (SELECT queue_id, due, seq FROM waiting WHERE state = ?1 AND due <= ?2
    ORDER BY due, seq LIMIT ?3) w LEFT JOIN job j ON j.seq = w.seq
GROUP BY w.queue_id
-- The limit comes before the join: it has to name the rows that promote_remove takes, also when the
-- job of one of them was deleted by hand.
-- name: promote_add
INSERT INTO ready (queue_id, priority, due, seq)
SELECT w.queue_id, j.priority, w.due, w.seq
FROM (SELECT queue_id, due, seq FROM waiting WHERE state = ?1 AND due <= ?2
    ORDER BY due, seq LIMIT ?3) w JOIN job j ON j.seq = w.seq
-- name: promote_remove
DELETE FROM waiting WHERE (state, due, seq) IN (
    SELECT state, due, seq FROM waiting WHERE state = ?1 AND due <= ?2
    ORDER BY due, seq LIMIT ?3)
-- name: expired_queues
SELECT queue_id FROM queue WHERE next_expiry <= ?
-- name: expired_leases
SELECT seq FROM lease WHERE queue_id = ? AND expires_at <= ? LIMIT ?
-- name: queue_next_ended
SELECT queue_id, done, dead, cancelled FROM queue
WHERE queue_id > ? AND (done > 0 OR dead > 0 OR cancelled > 0)
ORDER BY queue_id LIMIT 1
-- name: ended_before
SELECT seq, traces FROM ended WHERE state = ? AND queue_id = ? AND ended_at <= ?
ORDER BY ended_at, seq LIMIT ?
-- The key stands first because SQLite would otherwise search by the queue alone, and go through all
-- of its records.
-- name: idempotency_prune
DELETE FROM idempotency WHERE (key, queue_id) IN (
    SELECT key, queue_id FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
-- name: idempotency_expired_any
SELECT EXISTS (SELECT 1 FROM idempotency WHERE expires_at <= ?)
-- name: cron_advance
INSERT INTO cron (name, slot) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET slot = excluded.slot WHERE excluded.slot > slot OR slot > ?
-- name: cron_last
SELECT slot, paused_at, paused_by FROM cron WHERE name = ?
-- name: cron_pause
INSERT INTO cron (name, slot, paused_at, paused_by) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET paused_at = coalesce(paused_at, excluded.paused_at),
    paused_by = iif(paused_at IS NULL, excluded.paused_by, paused_by)
-- name: cron_resume
UPDATE cron SET slot = iif(slot > ?3, ?2, max(slot, ?2)), paused_at = NULL, paused_by = NULL
WHERE name = ?1 AND paused_at IS NOT NULL
-- name: cron_mark
INSERT INTO cron (name, slot) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET slot = excluded.slot WHERE slot > ?
-- name: pool_put
INSERT INTO pool (name, host, pid, started_at, beat_at, status) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid,
    started_at = excluded.started_at, beat_at = excluded.beat_at, status = excluded.status,
    want = 0, wanted_at = NULL, wanted_by = NULL
-- name: pools
SELECT name, host, pid, started_at, beat_at, status, want, wanted_at, wanted_by FROM pool
ORDER BY name
-- name: pools_silent
SELECT name, host, pid, started_at, beat_at, status, want, wanted_at, wanted_by FROM pool
WHERE beat_at < ? ORDER BY name
-- name: pool_want
UPDATE pool SET want = ?, wanted_at = ?, wanted_by = ? WHERE name = ?
-- name: pool_remove
DELETE FROM pool WHERE name = ?
-- name: pools_remove_silent
DELETE FROM pool WHERE beat_at < ?

-- For people --------------------------------------------------------------------------------

-- name: lease_request_cancel
UPDATE lease SET cancel_requested_at = coalesce(cancel_requested_at, ?2), traces = 1 WHERE seq = ?1
-- name: job_hasten
UPDATE job SET due = ?2, run_at = NULL WHERE seq = ?1
-- name: job_revive
UPDATE job SET due = ?2, run_at = ?3, attempts = 0, stalls = 0, executions = ?4 WHERE seq = ?1
-- name: detail_forgive
UPDATE detail SET last_error = NULL, failed_at = NULL, reason = NULL, exit_code = NULL,
    signal = NULL, progress_percent = NULL, progress_text = NULL, result = NULL
WHERE seq = ?
-- name: get
SELECT * FROM job_view WHERE id = ?
-- name: get_seq
SELECT * FROM job_view WHERE seq = ?
-- name: get_brief
SELECT seq, id, type, queue, state, encoding, NULL, priority, due, run_at, timeout, attempts,
    max_attempts, executions, stalls, max_stalls, key, update_flags, idempotency_key, created_at,
    started_at, ended_at, token, expires_at, pool, worker, cancel_requested_at, merged_into,
    last_error, failed_at, reason, exit_code, signal, progress_percent, progress_text, NULL, NULL,
    aside, aside_since, NULL, tags
FROM job_view WHERE seq = ?
-- The streams of a list, each in the order of an index: ?1 is the queue, ?2 its priority or state, ?3
-- how many, and the rest lies strictly between two ends. See parts/candidates.h.
-- name: list_ready_up
SELECT due, seq FROM ready
WHERE queue_id = ?1 AND priority = ?2 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due, seq LIMIT ?3
-- name: list_ready_down
SELECT due, seq FROM ready
WHERE queue_id = ?1 AND priority = ?2 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due DESC, seq DESC LIMIT ?3
-- name: list_waiting_up
SELECT due, seq FROM waiting
WHERE state = ?2 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due, seq LIMIT ?3
-- name: list_waiting_down
SELECT due, seq FROM waiting
WHERE state = ?2 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due DESC, seq DESC LIMIT ?3
-- name: list_waiting_queue_up
SELECT due, seq FROM waiting
WHERE state = ?2 AND queue_id = ?1 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due, seq LIMIT ?3
-- name: list_waiting_queue_down
SELECT due, seq FROM waiting
WHERE state = ?2 AND queue_id = ?1 AND (due, seq) > (?4, ?5) AND (due, seq) < (?6, ?7)
ORDER BY due DESC, seq DESC LIMIT ?3
-- What runs is so little that it needs no index.
-- name: list_running_up
SELECT started_at, seq FROM running
WHERE (?1 IS NULL OR queue_id = ?1) AND (started_at, seq) > (?4, ?5) AND (started_at, seq) < (?6, ?7)
ORDER BY started_at, seq LIMIT ?3
-- name: list_running_down
SELECT started_at, seq FROM running
WHERE (?1 IS NULL OR queue_id = ?1) AND (started_at, seq) > (?4, ?5) AND (started_at, seq) < (?6, ?7)
ORDER BY started_at DESC, seq DESC LIMIT ?3
-- name: list_ended_up
SELECT ended_at, seq FROM ended
WHERE state = ?2 AND queue_id = ?1 AND (ended_at, seq) > (?4, ?5) AND (ended_at, seq) < (?6, ?7)
ORDER BY ended_at, seq LIMIT ?3
-- name: list_ended_down
SELECT ended_at, seq FROM ended
WHERE state = ?2 AND queue_id = ?1 AND (ended_at, seq) > (?4, ?5) AND (ended_at, seq) < (?6, ?7)
ORDER BY ended_at DESC, seq DESC LIMIT ?3
-- name: list_id_up
SELECT id, seq FROM job WHERE id >= ?4 AND (?5 OR id > ?4) AND id < ?6
ORDER BY id LIMIT ?3
-- name: list_id_down
SELECT id, seq FROM job WHERE id >= ?4 AND (?5 OR id > ?4) AND id < ?6
ORDER BY id DESC LIMIT ?3
-- The jobs of a queue that has few, beside others that have many.
-- name: list_queue_up
SELECT j.id, j.seq FROM (
    SELECT seq FROM ready WHERE queue_id = ?1
    UNION ALL SELECT seq FROM aside WHERE queue_id = ?1
    UNION ALL SELECT seq FROM waiting WHERE state IN (0, 2, 4) AND queue_id = ?1
    UNION ALL SELECT seq FROM running WHERE queue_id = ?1
    UNION ALL SELECT seq FROM ended WHERE state IN (5, 6, 7) AND queue_id = ?1) t
    CROSS JOIN job j ON j.seq = t.seq
WHERE j.id >= ?4 AND (?5 OR j.id > ?4) AND j.id < ?6
ORDER BY j.id LIMIT ?3
-- name: list_queue_down
SELECT j.id, j.seq FROM (
    SELECT seq FROM ready WHERE queue_id = ?1
    UNION ALL SELECT seq FROM aside WHERE queue_id = ?1
    UNION ALL SELECT seq FROM waiting WHERE state IN (0, 2, 4) AND queue_id = ?1
    UNION ALL SELECT seq FROM running WHERE queue_id = ?1
    UNION ALL SELECT seq FROM ended WHERE state IN (5, 6, 7) AND queue_id = ?1) t
    CROSS JOIN job j ON j.seq = t.seq
WHERE j.id >= ?4 AND (?5 OR j.id > ?4) AND j.id < ?6
ORDER BY j.id DESC LIMIT ?3
-- A tag whose job was deleted by hand is passed over.
-- name: list_tag_up
SELECT j.id, j.seq FROM tag t CROSS JOIN job j ON j.id = t.id
WHERE t.tag = ?7 AND t.id >= ?4 AND (?5 OR t.id > ?4) AND t.id < ?6
ORDER BY t.id LIMIT ?3
-- name: list_tag_down
SELECT j.id, j.seq FROM tag t CROSS JOIN job j ON j.id = t.id
WHERE t.tag = ?7 AND t.id >= ?4 AND (?5 OR t.id > ?4) AND t.id < ?6
ORDER BY t.id DESC LIMIT ?3
-- name: list_state
SELECT state FROM job_view WHERE seq = ?
-- name: list_look
SELECT j.queue_id, j.type, j.key, coalesce(a.error, d.last_error)
FROM job j LEFT JOIN detail d ON d.seq = j.seq LEFT JOIN aside a ON a.seq = j.seq
WHERE j.seq = ?
-- The queues that have jobs of this state.
-- name: queues_with
SELECT queue_id FROM queue WHERE CASE ? WHEN 1 THEN ready WHEN 5 THEN done WHEN 6 THEN dead
    ELSE cancelled END > 0
-- name: queue_jobs
SELECT scheduled + ready + blocked + running + retry + done + dead + cancelled FROM queue
WHERE queue_id = ?
-- name: runs
SELECT execution, outcome, pool, worker, started_at, wall, user, system, max_rss_kb, exit_code,
    signal, error
FROM run WHERE seq = ?1
UNION ALL
SELECT executions, 0, pool, worker, started_at, wall, user, system, max_rss_kb, exit_code, NULL,
    NULL
FROM ended WHERE seq = ?1 AND wall IS NOT NULL
ORDER BY 1
-- The limit comes before the join, so that no more jobs are looked at than are shown.
-- name: failures
SELECT v.id, v.type, v.queue, v.state, v.attempts, v.max_attempts, v.last_error, v.failed_at,
    v.reason
FROM (SELECT seq FROM detail WHERE failed_at IS NOT NULL
    ORDER BY failed_at DESC, seq DESC LIMIT ?) f CROSS JOIN job_view v ON v.seq = f.seq
ORDER BY v.failed_at DESC, v.seq DESC
-- The oldest ready job is the first one of each priority, or aside: eleven looks, however many there are.
-- name: stats
SELECT q.name, q.paused_at, q.paused_by, q.spent_until, q.done_total, q.failed_total,
    q.scheduled, q.ready, q.blocked, q.running, q.retry, q.done, q.dead, q.cancelled,
    q.no_handler, q.cannot_start, iif(q.ready > 0, (
        SELECT min(due) FROM (SELECT (SELECT min(r.due) FROM ready r
                WHERE r.queue_id = q.queue_id AND r.priority = p.column1) AS due
            FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) p
            UNION ALL SELECT min(a.due) FROM aside a WHERE a.queue_id = q.queue_id)), NULL)
FROM queue q
WHERE q.hidden_totals IS NULL OR q.done_total + q.failed_total <> q.hidden_totals OR q.scheduled
    OR q.ready OR q.blocked OR q.running OR q.retry OR q.done OR q.dead OR q.cancelled
ORDER BY q.name
-- name: count_before
SELECT count(*) FROM (SELECT 1 FROM job j CROSS JOIN ready r ON r.queue_id = j.queue_id
    AND (r.priority, r.due, r.seq) < (j.priority, j.due, j.seq)
    WHERE j.id = ? LIMIT ?)
-- name: schema
SELECT version, usable_from FROM meta
