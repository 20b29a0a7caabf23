-- Views that the driver reads, and whoever wants to. They only get more columns, at their end.

CREATE OR REPLACE VIEW queue_name AS
SELECT queue_id, name FROM queue UNION SELECT queue_id, name FROM queue_born;

-- What was counted, and what was added up of it: `deltas` says which.
CREATE OR REPLACE VIEW counts AS
SELECT 1 AS deltas, * FROM counted UNION ALL SELECT 0, * FROM tally;

-- Every lease, also those in batches.
CREATE OR REPLACE VIEW leases AS
SELECT * FROM lease
UNION ALL
SELECT b.queue_id, m.seq, 1, b.batch || int4send(b.first + m.n::int - 1), b.expires_at, b.pool,
    b.started_at, t.seq IS NOT NULL, NULL, t.asked_at
FROM batch b CROSS JOIN LATERAL unnest(b.seqs) WITH ORDINALITY m (seq, n)
    LEFT JOIN to_cancel t ON t.seq = m.seq
WHERE get_bit(b.open, m.n::int - 1) = 1;

-- A job with all that is known of it, for people and for their own queries. One that is nowhere else is looked
-- for in the batches of its queue.
CREATE OR REPLACE VIEW job_view AS
SELECT j.seq, j.id, j.type,
    coalesce(q.name, (SELECT min(b.name) FROM queue_born b WHERE b.queue_id = j.queue_id)) AS queue,
    CASE
        WHEN l.seq IS NOT NULL OR b.token IS NOT NULL THEN :JOB_RUNNING::smallint
        WHEN e.seq IS NOT NULL THEN e.state
        WHEN a.seq IS NOT NULL THEN :JOB_READY::smallint
        WHEN EXISTS (SELECT 1 FROM ready r WHERE r.queue_id = j.queue_id
                AND r.priority = j.priority AND r.due = j.due AND r.seq = j.seq)
            THEN :JOB_READY::smallint
        ELSE (SELECT w.state FROM waiting w
            WHERE w.state IN (:JOB_SCHEDULED, :JOB_BLOCKED, :JOB_RETRY)
                AND w.due = j.due AND w.seq = j.seq)
    END AS state,
    j.encoding, j.payload, j.priority, j.due, j.run_at, j.timeout,
    coalesce(e.attempts, j.attempts) AS attempts, j.max_attempts,
    coalesce(l.execution, b.execution, e.executions, j.executions) AS executions,
    coalesce(e.stalls, j.stalls) AS stalls, j.max_stalls, j.key, j.update_flags,
    j.idempotency_key, j.created_at, coalesce(l.started_at, b.started_at, e.started_at) AS started_at,
    e.ended_at, coalesce(l.token, b.token, e.token) AS token,
    coalesce(l.expires_at, b.expires_at) AS expires_at, coalesce(l.pool, b.pool, e.pool) AS pool,
    coalesce(l.worker, e.worker) AS worker,
    coalesce(l.cancel_requested_at, b.asked_at, e.cancel_requested_at) AS cancel_requested_at,
    e.merged_into, coalesce(a.error, d.last_error) AS last_error, d.failed_at, d.reason,
    CASE WHEN e.state = :JOB_DONE THEN e.exit_code ELSE d.exit_code END AS exit_code,
    CASE WHEN e.state = :JOB_DONE THEN NULL ELSE d.signal END AS signal,
    d.progress_percent, d.progress_text, d.result, d.output, a.why AS aside,
    a.since AS aside_since, j.headers, j.tags
FROM job j
    LEFT JOIN queue q ON q.queue_id = j.queue_id
    LEFT JOIN LATERAL (SELECT * FROM lease
        WHERE queue_id = j.queue_id AND seq = j.seq OFFSET 0) l ON true -- as in standing_of()
    LEFT JOIN ended e ON e.seq = j.seq
    LEFT JOIN aside a ON a.seq = j.seq
    LEFT JOIN LATERAL (SELECT b.batch || int4send(b.first + m.n - 1) AS token, b.expires_at, b.pool,
            b.started_at, 1::bigint AS execution,
            (SELECT t.asked_at FROM to_cancel t WHERE t.seq = j.seq) AS asked_at
        FROM batch b CROSS JOIN LATERAL (SELECT array_position(b.seqs, j.seq) AS n OFFSET 0) m
        WHERE b.queue_id = j.queue_id AND j.seq BETWEEN b.lowest AND b.highest
            AND get_bit(b.open, m.n - 1) = 1
            AND coalesce(l.seq, e.seq, a.seq) IS NULL AND j.key IS NULL AND j.executions = 0
        OFFSET 0) b ON true
    LEFT JOIN detail d ON d.seq = j.seq;
