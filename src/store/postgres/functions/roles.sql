-- Who may do what, besides the owner of the schema:
--
--     GRANT taskharbor_producer TO somebody;    to enqueue, by SQL or by thctl
--     GRANT taskharbor_reader TO somebody;      to look at jobs, queues and pools, and wait for jobs
--
-- Neither may do anything else, nor see where our locks begin. Functions with the rights of the owner
-- have a fixed search_path; all others are of no use without rights of one's own.

-- EXECUTE on every function of one of these names, in whatever version: machines are upgraded one by one.
CREATE FUNCTION grant_functions(role text, names text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    signature text;
BEGIN
    FOR signature IN SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = current_schema()::regnamespace
            AND regexp_replace(p.proname, '_v[0-9]+$', '') = ANY (names)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', signature, role);
    END LOOP;
END $$;

CREATE FUNCTION grant_all() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO taskharbor_producer, taskharbor_reader',
        current_schema());
    GRANT SELECT (version, usable_from) ON meta TO taskharbor_producer;
    GRANT SELECT ON installed TO taskharbor_producer;
    PERFORM grant_functions('taskharbor_producer', ARRAY['enqueue', 'enqueue_raw', 'enqueue_many',
        'enqueue_checked', 'offer', 'answer']);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO taskharbor_reader', current_schema());
    REVOKE ALL ON lock_space FROM taskharbor_reader;
    PERFORM grant_functions('taskharbor_reader', ARRAY['wait_for', 'list_page', 'list_branches',
        'list_rows', 'list_picks', 'queue_of', 'count_before', 'newest_failures', 'moment_of',
        'duration_of', 'text_of', 'reason_word']);
END $$;

CREATE FUNCTION make_role(role text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- somebody else has just made it
END $$;

-- A new function is everybody's: these become the owner's. Whom an older one was granted to keeps it.
CREATE FUNCTION revoke_new() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    signature text;
BEGIN
    FOR signature IN SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = current_schema()::regnamespace AND p.proacl IS NULL
            AND p.xmin = pg_current_xact_id()::xid
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
END $$;

-- The last step of a migration. A user who may not make roles migrates without them, and is told so.
CREATE FUNCTION set_rights() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM revoke_new();
    BEGIN
        PERFORM make_role('taskharbor_producer'), make_role('taskharbor_reader');
    EXCEPTION WHEN insufficient_privilege THEN
        RETURN;
    END;
    PERFORM grant_all();
END $$;
