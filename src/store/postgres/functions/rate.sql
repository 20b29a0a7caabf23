-- How many jobs a queue with a rate may start: the arithmetic of job/rate.c.

CREATE FUNCTION rate_burst(count_ bigint, period bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(count_ * :USEC_PER_SEC / period, 1);
$$;

CREATE FUNCTION rate_cost(count_ bigint, period bigint, starts bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (starts * period + count_ - 1) / count_;
$$;

-- How far the queue has been paid ahead of now; not believed when starts cannot have brought it.
CREATE FUNCTION rate_ahead(count_ bigint, period bigint, spent bigint, now_ bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN spent IS NULL OR spent <= now_
            OR spent - now_ > rate_cost(count_, period, rate_burst(count_, period)) + :USEC_PER_SEC
            THEN 0
        ELSE spent - now_
    END;
$$;

CREATE FUNCTION rate_excess(count_ bigint, period bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN period % count_ <> 0 THEN 1 ELSE 0 END;
$$;

CREATE FUNCTION rate_allows(count_ bigint, period bigint, ahead bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN ahead = 0 THEN rate_burst(count_, period) ELSE greatest(0,
        rate_burst(count_, period)
            - ((ahead - rate_excess(count_, period)) * count_ + period - 1) / period) END;
$$;

CREATE FUNCTION rate_next(count_ bigint, period bigint, ahead bigint, now_ bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT now_ + greatest(0, ahead - ((rate_burst(count_, period) - 1) * period / count_
        + rate_excess(count_, period)));
$$;
