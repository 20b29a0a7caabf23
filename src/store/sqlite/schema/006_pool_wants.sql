-- What somebody wants a pool to do, which it hears with its next beat.

ALTER TABLE pool ADD COLUMN want INTEGER NOT NULL DEFAULT 0; -- enum pool_want of store/store.h
ALTER TABLE pool ADD COLUMN wanted_at INTEGER;
ALTER TABLE pool ADD COLUMN wanted_by TEXT;
