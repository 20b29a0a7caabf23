-- The first schema. `job` is what a job is and how it has fared so far. Where it stands is told by
-- the one other table that has its seq:
--
--     ready      the queues themselves, in the order of reserving
--     aside      ready, but nobody can run them now: reserving does not look here
--     waiting    scheduled, blocked and retry
--     lease      running: the lease is the state, so neither can be without the other
--     batch      running as well: leases that are kept together (004_batches.sql)
--     ended      done, dead and cancelled
--
-- The hot path (reserve, ack) inserts and deletes narrow rows at the ends of these trees and leaves
-- the wide row alone: measured, that is 1.6 times as fast as one status row with partial indexes.
-- seq is the order of enqueueing. (queue_id, priority, due, seq) of `job` is always its place.
--
-- States, reasons, kinds and outcomes are the numbers of the enums in src/job/. Moments and
-- durations are microseconds. What is absent is NULL.

CREATE TABLE meta (
    version INTEGER NOT NULL,
    usable_from INTEGER NOT NULL -- the lowest binary that may use this file
) STRICT;

CREATE TABLE queue (
    queue_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    paused_at INTEGER,
    paused_by TEXT,
    -- What done_total and failed_total were together when somebody hid the queue. It is hidden while
    -- they are that and it has no job.
    hidden_totals INTEGER,
    -- No lease of this queue ends before this moment: a reserve before it need not look for leases
    -- that ran out, so leases need no index by expiry. NULL: none is running.
    next_expiry INTEGER,
    done_total INTEGER NOT NULL DEFAULT 0,
    failed_total INTEGER NOT NULL DEFAULT 0,
    -- How many jobs of each state it has: whoever moves jobs adds that here in the same transaction.
    scheduled INTEGER NOT NULL DEFAULT 0,
    ready INTEGER NOT NULL DEFAULT 0,
    blocked INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    retry INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    no_handler INTEGER NOT NULL DEFAULT 0, -- of those that are ready, aside for this reason
    cannot_start INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE job (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    queue_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    encoding INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    due INTEGER NOT NULL,
    run_at INTEGER,
    timeout INTEGER,
    max_attempts INTEGER,
    max_stalls INTEGER,
    attempts INTEGER NOT NULL,
    stalls INTEGER NOT NULL,
    executions INTEGER NOT NULL, -- before the lease, while there is one
    created_at INTEGER NOT NULL,
    key TEXT,
    update_flags INTEGER, -- keyed jobs: how it merges with its twin; from bit 5 on: on_dead_depth
    idempotency_key TEXT,
    payload BLOB NOT NULL
) STRICT;

CREATE TABLE ready (
    queue_id INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    due INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (queue_id, priority, due, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE aside (
    seq INTEGER PRIMARY KEY,
    queue_id INTEGER NOT NULL,
    why INTEGER NOT NULL CHECK (why IN (1, 2)),
    type TEXT NOT NULL,
    priority INTEGER NOT NULL,
    due INTEGER NOT NULL,
    since INTEGER NOT NULL,
    error TEXT
) STRICT;

-- To bring them back in their order, to find those that have waited too long, and for people.
CREATE INDEX aside_by_place ON aside (queue_id, why, type, priority, due, seq);
CREATE INDEX aside_by_age ON aside (queue_id, why, type, since, seq);
CREATE INDEX aside_by_due ON aside (queue_id, due, seq);

CREATE TABLE waiting (
    state INTEGER NOT NULL CHECK (state = 0 OR state = 2 OR state = 4),
    due INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    queue_id INTEGER NOT NULL,
    PRIMARY KEY (state, due, seq)
) STRICT, WITHOUT ROWID;

-- For people who look at one queue beside a million jobs that wait in others.
CREATE INDEX waiting_by_queue ON waiting (state, queue_id, due, seq);

CREATE TABLE lease (
    seq INTEGER PRIMARY KEY,
    queue_id INTEGER NOT NULL,
    execution INTEGER NOT NULL CHECK (execution > 0),
    token BLOB NOT NULL CHECK (length(token) = 20),
    expires_at INTEGER NOT NULL,
    pool TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    traces INTEGER NOT NULL, -- whether there is a key, a cancel request, or a row in detail or run
    worker INTEGER,
    cancel_requested_at INTEGER
) STRICT;

CREATE TABLE ended (
    seq INTEGER PRIMARY KEY,
    state INTEGER NOT NULL CHECK (state BETWEEN 5 AND 7),
    queue_id INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    executions INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    stalls INTEGER NOT NULL,
    token BLOB,       -- of the last lease, and
    ended_by INTEGER, -- the kind of settlement that came with it: the same again is a success
    traces INTEGER NOT NULL DEFAULT 1, -- whether there may be a row in detail or run
    pool TEXT,        -- of the last execution
    worker INTEGER,
    started_at INTEGER,
    wall INTEGER, -- done jobs: their last run lies here instead of in `run`, which saves a row
    user INTEGER,
    system INTEGER,
    max_rss_kb INTEGER,
    exit_code INTEGER,
    cancel_requested_at INTEGER,
    merged_into BLOB
) STRICT;

CREATE INDEX ended_by_age ON ended (state, queue_id, ended_at);

-- What most jobs never have: an error, progress, a result, output.
CREATE TABLE detail (
    seq INTEGER PRIMARY KEY,
    last_error TEXT,
    failed_at INTEGER,
    reason INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    progress_percent INTEGER,
    progress_text TEXT,
    result BLOB,
    output BLOB
) STRICT;

-- The newest executions of each job.
CREATE TABLE run (
    seq INTEGER NOT NULL,
    execution INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    pool TEXT,
    worker INTEGER,
    started_at INTEGER,
    wall INTEGER,
    user INTEGER,
    system INTEGER,
    max_rss_kb INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    error TEXT,
    PRIMARY KEY (seq, execution)
) STRICT, WITHOUT ROWID;

-- Per queue and key at most one job waits and at most one runs.
CREATE TABLE keyed (
    queue_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    waiting INTEGER, -- seq
    running INTEGER, -- seq
    PRIMARY KEY (queue_id, key),
    CHECK (waiting IS NOT NULL OR running IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Outlives its job, so it names the id.
CREATE TABLE idempotency (
    queue_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    id BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (queue_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);
CREATE INDEX idempotency_by_id ON idempotency (id);

CREATE TABLE pool (
    name TEXT PRIMARY KEY,
    host TEXT,
    pid INTEGER,
    started_at INTEGER NOT NULL,
    beat_at INTEGER NOT NULL,
    status BLOB
) STRICT, WITHOUT ROWID;

CREATE TABLE cron (
    name TEXT PRIMARY KEY,
    slot INTEGER NOT NULL, -- the last one that was enqueued
    paused_at INTEGER,
    paused_by TEXT
) STRICT, WITHOUT ROWID;

-- Whom somebody looks at, until when: a few rows, for seconds. Number 0 stands for the pools.
CREATE TABLE watch (
    seq INTEGER PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;
