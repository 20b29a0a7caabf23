-- The table `tag`: what leads from a tag to the jobs that have it. A job's own row has all its tags; who changes or
-- removes that lets those of `tag` leave first. Each is looked up by its key, whatever the statistics say.

CREATE FUNCTION tags_enter(seq_ bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tag (tag, id)
    SELECT n.name, j.id FROM job j CROSS JOIN LATERAL unnest(string_to_array(j.tags, ' ')) n (name)
    WHERE j.seq = seq_
    ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION tags_leave(seqs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    places tid[];
BEGIN
    SELECT array_agg(t.place) INTO places FROM unnest(seqs) s (seq)
        CROSS JOIN LATERAL (SELECT id, tags FROM job WHERE seq = s.seq AND tags IS NOT NULL OFFSET 0) j
        CROSS JOIN LATERAL unnest(string_to_array(j.tags, ' ')) n (name)
        CROSS JOIN LATERAL (SELECT ctid AS place FROM tag
            WHERE tag = n.name AND id = j.id OFFSET 0) t;
    IF places IS NOT NULL THEN
        DELETE FROM tag WHERE ctid = ANY (places);
    END IF;
END $$;

-- As job.tags has them; NULL is none.
CREATE FUNCTION tags_text(tags text[]) RETURNS text LANGUAGE sql IMMUTABLE
RETURN nullif(array_to_string(tags, ' '), '');
