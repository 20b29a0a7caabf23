-- The newest failures, for people who watch.

-- What never failed is not in it, so the path of a good job does not write it.
CREATE INDEX detail_by_failure ON detail (failed_at) WHERE failed_at IS NOT NULL;
