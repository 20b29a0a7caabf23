-- Jobs for people who act on them by SQL. Each answers the state that the job is in now, or NULL when
-- there is none.

-- A waiting job is cancelled; a running one is asked to stop.
CREATE OR REPLACE FUNCTION cancel(id uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM repair('cancel', ARRAY[cancel.id], NULL, usec_of(clock_timestamp()));
    RETURN state_word(state_of(cancel.id));
END $$;

-- A dead or cancelled job runs again, with all its attempts; one that waits for its time runs now.
CREATE OR REPLACE FUNCTION retry(id uuid) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    now_ bigint := usec_of(clock_timestamp());
    state_ smallint := state_of(retry.id);
BEGIN
    IF state_ >= :JOB_DEAD THEN
        PERFORM repair('requeue', ARRAY[retry.id], NULL, now_);
    ELSIF state_ <> :JOB_READY THEN
        PERFORM repair('run now', ARRAY[retry.id], NULL, now_);
    END IF;
    IF state_of(retry.id) = :JOB_READY AND state_ <> :JOB_READY THEN
        PERFORM ring_with_commit();
    END IF;
    RETURN state_word(state_of(retry.id));
END $$;

-- The state of the job when it has ended, or when the time is over. It looks again and again, less and
-- less often: 4 times a second at last.
CREATE OR REPLACE FUNCTION wait_for(id uuid, timeout interval DEFAULT '30 seconds') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    until_ timestamptz := clock_timestamp() + coalesce(timeout, '30 seconds');
    pause double precision := 0.005;
    left_ double precision;
    state_ smallint;
    obstacle text;
BEGIN
    LOOP
        state_ := state_of(wait_for.id);
        left_ := extract(epoch FROM until_ - clock_timestamp());
        IF state_ IS NULL OR state_ >= :JOB_DONE OR left_ <= 0 THEN
            RETURN state_word(state_);
        END IF;
        obstacle := blindness(wait_for.id);
        IF obstacle IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'TH004', MESSAGE = obstacle;
        END IF;
        PERFORM pg_sleep(least(pause, left_));
        pause := least(1.5 * pause, 0.25);
    END LOOP;
END $$;
