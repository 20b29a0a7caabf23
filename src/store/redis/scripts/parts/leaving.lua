-- A running job leaves its lease: it ends, or waits again. The lease goes last: a script that fails before has
-- changed nothing that cannot be done again.

local function lease_drop(q, j)
    if j.batch then
        batch.close(q, j.batch, j.place)
    else
        call('HDEL', q.lease, j.id)
    end
    q.left = true
end

local function leaving_end(q, j, state, by, run, now)
    ending_write(q, j, state, by, run, nil, tonumber(now))
    twins_running_ended(q, j, now)
    lease_drop(q, j)
end

local function leaving_return(q, j, state, now)
    local moved = twins_running_returns(q, j, now)
    j.state = moved and state_when_due(j.due, now) or state
    if moved then
        j.aside = nil
    end
    job_write(q, j)
    place_add(q, j)
    lease_drop(q, j)
end

-- The newest ten executions:
-- EXECUTION OUTCOME WORKER STARTED_AT WALL USER SYSTEM MAX_RSS_KB EXIT_CODE SIGNAL HAS_ERROR
-- POOL_LENGTH, then pool and error.
local function record_run(q, j, run)
    local key = q.runs .. j.id
    write_to(q, 'RPUSH', key, table.concat({j.executions, run.outcome, run.worker, run.started_at, run.wall,
        run.user, run.system, run.max_rss_kb, run.exit_code, run.signal, run.error and '1' or '0',
        #j.pool, ''}, ' ') .. j.pool .. (run.error or ''))
    call('LTRIM', key, -10, -1)
end

-- Whoever found the queue full waits for the bell, and is woken when the script leaves room.
local function announce_vacancy(q)
    if q.left and call('HDEL', q.state, 'awaited') == 1 then
        call('HSET', q.state, 'rung', '1')
        call('PUBLISH', q.bell, q.name)
    end
end
