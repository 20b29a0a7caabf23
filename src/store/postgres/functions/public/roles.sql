-- For whoever has made the roles after a migration could not: functions/roles.sql.
CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM grant_all();
END $$;
