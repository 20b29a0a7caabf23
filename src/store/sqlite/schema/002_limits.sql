-- Limits that hold across all pools.

-- What was started is paid for up to this moment (job/rate.h). NULL: the queue has never had a rate.
ALTER TABLE queue ADD COLUMN spent_until INTEGER;

-- Whether somebody found the queue full and waits for the bell. Whoever makes room takes it back.
ALTER TABLE queue ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;
