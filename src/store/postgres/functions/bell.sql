-- Who sleeps is woken: net/bell.h has the whole story.

-- Something became reservable: whoever sleeps has to be woken when this is committed.
CREATE FUNCTION ring_later() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('taskharbor.ring', 'yes', true);
END $$;

CREATE FUNCTION has_rung() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(current_setting('taskharbor.ring', true), '') = 'yes';
$$;

-- Wakes whoever sleeps; called after the commit. A sleeper holds this lock, shared.
CREATE FUNCTION ring() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(:LOCK_BELL);
BEGIN
    IF pg_try_advisory_lock(class, :LOCK_SLEEPS) THEN
        PERFORM pg_advisory_unlock(class, :LOCK_SLEEPS);
    ELSE
        PERFORM pg_notify('taskharbor_' || 'queue'::regclass::oid, '');
    END IF;
END $$;

-- Wakes whoever sleeps, inside of a transaction of somebody else's. NOTIFY makes all who use it commit
-- one after the other, so it is done only when somebody sleeps by now. Who does not sleep yet, and
-- does before the commit, would not hear of it: that is what our second lock is for, which is
-- held to the end of the transaction. is_producing() tells it to whoever goes to sleep.
CREATE FUNCTION ring_with_commit() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    class int := lock_class(:LOCK_BELL);
BEGIN
    IF pg_try_advisory_xact_lock_shared(class, :LOCK_PRODUCES)
        AND pg_try_advisory_lock(class, :LOCK_SLEEPS)
    THEN
        PERFORM pg_advisory_unlock(class, :LOCK_SLEEPS);
    ELSE
        PERFORM pg_notify('taskharbor_' || 'queue'::regclass::oid, '');
    END IF;
END $$;

-- Whether a transaction may be open that has made something ready and does not ring. One that is not
-- is committed and can be seen.
CREATE FUNCTION is_producing() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_lock(lock_class(:LOCK_BELL), :LOCK_PRODUCES) THEN
        RETURN true;
    END IF;
    PERFORM pg_advisory_unlock(lock_class(:LOCK_BELL), :LOCK_PRODUCES);
    RETURN false;
END $$;

-- Goes to sleep: from here on everybody rings but who began to produce before. One who has just had
-- jobs of producers that go on would have them all ring: it may rather look again by itself. Such a
-- one has patience: enum pg_patience of protocol.h.
CREATE FUNCTION arm(patience int, OUT armed boolean, OUT producing boolean) LANGUAGE plpgsql AS $$
BEGIN
    producing := is_producing();
    armed := patience = :PATIENCE_NONE OR (patience = :PATIENCE_SOME AND NOT producing);
    IF armed THEN
        PERFORM pg_advisory_lock_shared(lock_class(:LOCK_BELL), :LOCK_SLEEPS);
        producing := is_producing();
    END IF;
END $$;
