-- What producers send along with a job, and what jobs are listed by.

-- The encoding of a job that has either is 2 more, so that whoever takes jobs need not look here.
ALTER TABLE job ADD COLUMN headers TEXT; -- a JSON object as written
ALTER TABLE job ADD COLUMN tags TEXT;    -- names, with a space between each

-- A row for each tag of each job. Whoever removes a job, or gives it other tags, sees to it.
CREATE TABLE tag (
    tag TEXT NOT NULL,
    id BLOB NOT NULL,
    PRIMARY KEY (tag, id)
) STRICT, WITHOUT ROWID;

-- A job with all that is known of it, for people and for their own queries. Batches are searched
-- last, and only for jobs that are nowhere else.
DROP VIEW IF EXISTS job_view;
CREATE VIEW job_view AS
SELECT j.seq, j.id, j.type, q.name AS queue,
    CASE
        WHEN coalesce(l.seq, b.seq) IS NOT NULL THEN 3
        WHEN e.seq IS NOT NULL THEN e.state
        WHEN a.seq IS NOT NULL THEN 1
        WHEN EXISTS (SELECT 1 FROM ready r WHERE r.queue_id = j.queue_id
            AND r.priority = j.priority AND r.due = j.due AND r.seq = j.seq) THEN 1
        ELSE (SELECT w.state FROM waiting w WHERE w.state IN (0, 2, 4)
            AND w.due = j.due AND w.seq = j.seq)
    END AS state,
    j.encoding & 1 AS encoding, j.payload, j.priority, j.due, j.run_at, j.timeout,
    coalesce(e.attempts, j.attempts) AS attempts, j.max_attempts,
    coalesce(l.execution, e.executions, iif(b.seq IS NULL, NULL, 1), j.executions) AS executions,
    coalesce(e.stalls, j.stalls) AS stalls, j.max_stalls, j.key, j.update_flags,
    j.idempotency_key, j.created_at,
    coalesce(l.started_at, e.started_at, b.started_at) AS started_at, e.ended_at,
    coalesce(l.token, e.token, hex(b.token) || printf('%08X', b.first
        + (SELECT m.key FROM json_each(b.seqs) m WHERE m.value = j.seq))) AS token,
    coalesce(l.expires_at, b.expires_at) AS expires_at, coalesce(l.pool, e.pool, b.pool) AS pool,
    coalesce(l.worker, e.worker) AS worker,
    coalesce(l.cancel_requested_at, e.cancel_requested_at) AS cancel_requested_at,
    e.merged_into, coalesce(a.error, d.last_error) AS last_error, d.failed_at, d.reason,
    iif(e.state = 5, e.exit_code, d.exit_code) AS exit_code,
    iif(e.state = 5, NULL, d.signal) AS signal,
    d.progress_percent, d.progress_text, d.result, d.output, a.why AS aside,
    a.since AS aside_since, j.headers, j.tags
FROM job j
    LEFT JOIN queue q ON q.queue_id = j.queue_id
    LEFT JOIN lease l ON l.seq = j.seq
    LEFT JOIN ended e ON e.seq = j.seq
    LEFT JOIN aside a ON a.seq = j.seq
    LEFT JOIN detail d ON d.seq = j.seq
    LEFT JOIN batch b ON b.seq = CASE
        WHEN coalesce(l.seq, e.seq, a.seq) IS NOT NULL THEN NULL
        WHEN EXISTS (SELECT 1 FROM ready r WHERE r.queue_id = j.queue_id
            AND r.priority = j.priority AND r.due = j.due AND r.seq = j.seq) THEN NULL
        WHEN EXISTS (SELECT 1 FROM waiting w WHERE w.state IN (0, 2, 4)
            AND w.due = j.due AND w.seq = j.seq) THEN NULL
        ELSE (SELECT c.seq FROM batch c WHERE c.seq <= j.seq AND c.last >= j.seq
            AND EXISTS (SELECT 1 FROM json_each(c.seqs) m WHERE m.value = j.seq)
            ORDER BY c.seq DESC LIMIT 1)
    END;
