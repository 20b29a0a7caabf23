-- What the view of jobs tells the planner; neither of them changes what is found. By itself the planner
-- goes by its statistics, and a LIMIT does not reach the parts of a UNION ALL: it would join all jobs of
-- a state to show the first ten.

-- The number itself, at a price. An index scan pays it once, and any other look at the table for each row:
-- so the jobs of a state are taken from its index, however many there are.
CREATE OR REPLACE FUNCTION by_index(number smallint) RETURNS smallint LANGUAGE plpgsql STABLE
COST 1000 AS $$
BEGIN
    RETURN number;
END $$;

-- Always true, and taken to be rare, because nobody has counted it: a place seems to have few jobs, so all
-- else is looked up job by job, for as many as somebody wants to see.
CREATE OR REPLACE FUNCTION few(queue_id int, seq bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN queue_id & 0 = 0 AND seq & 0 = 0;

-- For everybody: whoever was granted a look at the view, or at one made of it, calls them.
GRANT EXECUTE ON FUNCTION by_index(smallint), few(int, bigint) TO PUBLIC;
