-- Queues: a number for each name.

-- NULL when nobody has named it yet.
CREATE FUNCTION queue_of(name_ text) RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    number int;
BEGIN
    SELECT queue_id INTO number FROM queue WHERE name = name_;
    IF NOT FOUND THEN
        SELECT min(queue_id) INTO number FROM queue_born WHERE name = name_;
    END IF;
    RETURN number;
END $$;

-- The queue's number, for whoever enqueues. A new queue gets one that its name alone decides, so two
-- transactions that do not see each other agree on it; only a number that is another queue's already
-- is passed over.
CREATE FUNCTION queue_make(name_ text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    number int := queue_of(name_);
BEGIN
    IF number IS NOT NULL THEN
        RETURN number;
    END IF;
    number := hashtext(name_);
    WHILE EXISTS (SELECT FROM queue_name q WHERE q.queue_id = number AND q.name <> name_) LOOP
        number := CASE WHEN number = 2147483647 THEN 0 ELSE number + 1 END;
    END LOOP;
    INSERT INTO queue_born (queue_id, name) VALUES (number, name_);
    RETURN number;
END $$;

-- Those of them that somebody has named become rows of `queue`. For short transactions only.
CREATE FUNCTION queues_enter(names text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO queue (queue_id, name)
    SELECT DISTINCT b.queue_id, b.name FROM queue_born b WHERE b.name = ANY (names) ORDER BY b.name
    ON CONFLICT DO NOTHING;
$$;
