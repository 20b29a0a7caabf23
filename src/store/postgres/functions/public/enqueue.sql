-- The way in for producers in any language, inside of their own transactions:
--
--     SELECT taskharbor.enqueue('email:send', '{"to": "ada"}', queue => 'mail', priority => 3);
--
-- The same rules as everybody's, because the driver's own enqueue goes through enqueue_one() as well.
-- Whoever sleeps is woken by their commit.
--
-- psql shows every function that an error came through. So what is refused is handed back up to
-- answer() (offer.sql), which raises it; and what calls answer() is inlined by the planner, so that there
-- is nothing else to show. enqueue_many() answers rows, which cannot be inlined, and raises by itself.

-- A payload that is JSON. The answer is the id of the job that now stands for this request. There is one
-- for each type that a payload may have; a literal, and none at all, is text.
CREATE OR REPLACE FUNCTION enqueue(type text, payload text DEFAULT 'null',
    queue text DEFAULT :JOB_QUEUE_DEFAULT, run_at timestamptz DEFAULT NULL,
    priority int DEFAULT :JOB_PRIORITY_DEFAULT, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL,
    headers jsonb DEFAULT NULL, tags text[] DEFAULT NULL)
RETURNS uuid LANGUAGE sql
RETURN answer(offer(type, convert_to(coalesce(payload::text, 'null'), 'UTF8'), 'json', queue, run_at,
    priority, timeout, max_attempts, max_stalls, key, idempotency_key, idempotency_window,
    update_payload, update_run_at, update_retry, reset_counts, id, convert_to(headers::text, 'UTF8'), tags));

CREATE OR REPLACE FUNCTION enqueue(type text, payload json,
    queue text DEFAULT :JOB_QUEUE_DEFAULT, run_at timestamptz DEFAULT NULL,
    priority int DEFAULT :JOB_PRIORITY_DEFAULT, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL,
    headers jsonb DEFAULT NULL, tags text[] DEFAULT NULL)
RETURNS uuid LANGUAGE sql
RETURN answer(offer(type, convert_to(coalesce(payload::text, 'null'), 'UTF8'), 'json', queue, run_at,
    priority, timeout, max_attempts, max_stalls, key, idempotency_key, idempotency_window,
    update_payload, update_run_at, update_retry, reset_counts, id, convert_to(headers::text, 'UTF8'), tags));

CREATE OR REPLACE FUNCTION enqueue(type text, payload jsonb,
    queue text DEFAULT :JOB_QUEUE_DEFAULT, run_at timestamptz DEFAULT NULL,
    priority int DEFAULT :JOB_PRIORITY_DEFAULT, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL,
    headers jsonb DEFAULT NULL, tags text[] DEFAULT NULL)
RETURNS uuid LANGUAGE sql
RETURN answer(offer(type, convert_to(coalesce(payload::text, 'null'), 'UTF8'), 'json', queue, run_at,
    priority, timeout, max_attempts, max_stalls, key, idempotency_key, idempotency_window,
    update_payload, update_run_at, update_retry, reset_counts, id, convert_to(headers::text, 'UTF8'), tags));

-- A payload that is any bytes.
CREATE OR REPLACE FUNCTION enqueue_raw(type text, payload bytea DEFAULT '',
    queue text DEFAULT :JOB_QUEUE_DEFAULT, run_at timestamptz DEFAULT NULL,
    priority int DEFAULT :JOB_PRIORITY_DEFAULT, timeout interval DEFAULT NULL,
    max_attempts int DEFAULT NULL, max_stalls int DEFAULT NULL, key text DEFAULT NULL,
    idempotency_key text DEFAULT NULL, idempotency_window interval DEFAULT NULL,
    update_payload boolean DEFAULT true, update_run_at text DEFAULT 'always',
    update_retry boolean DEFAULT true, reset_counts boolean DEFAULT false, id uuid DEFAULT NULL,
    headers jsonb DEFAULT NULL, tags text[] DEFAULT NULL)
RETURNS uuid LANGUAGE sql
RETURN answer(offer(type, payload, 'raw', queue, run_at, priority,
    timeout, max_attempts, max_stalls, key, idempotency_key, idempotency_window,
    update_payload, update_run_at, update_retry, reset_counts, id, convert_to(headers::text, 'UTF8'), tags));
