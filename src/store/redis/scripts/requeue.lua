#!lua
-- A dead or cancelled job waits again; counts and errors are cleared.
--
-- KEYS: base and state of the queue. ARGV: now, run_at or 0, ids. Answers a verdict for each.
-- parts: base damage record pages place batch standing ending twins

local q = queue_of(KEYS[1])
local now, run_at = ARGV[1], ARGV[2]
local answers = {}

-- Behind a running twin it is blocked, and merged into that if it comes back: one of another type
-- cannot be.
local function may_wait(j, waiting, running)
    if j.state ~= DEAD and j.state ~= CANCELLED or waiting then
        return false
    end
    return not running or running.broken or running.type == j.type
end

local function requeue(id)
    local j = standing(q, id)
    if not j then
        return NOT_FOUND
    end
    local waiting, running
    if j.key ~= '' then
        waiting, running = twins_find(q, j.key)
    end
    if not may_wait(j, waiting, running) then
        return CONFLICT
    end
    call('HDEL', q.ended, id)
    call('ZREM', q[SET_OF[j.state]], id)
    call('ZREM', q.failed, id)
    write_to(q, 'HDEL', q.detail .. id, 'last_error', 'failed_at', 'reason', 'exit_code', 'signal',
        'progress_percent', 'progress_text', 'result')
    j.run_at = run_at
    j.due = run_at ~= '0' and run_at or text_of(tonumber(now))
    j.attempts, j.stalls = '0', '0'
    j.state = running and BLOCKED or state_when_due(j.due, now)
    job_write(q, j)
    place_add(q, j)
    if j.key ~= '' then
        twins_store(q, j.key, id, running and running.id)
    end
    return OK
end

for i = 3, #ARGV do
    answers[#answers + 1] = requeue(ARGV[i])
end
if q.rings then
    ring(q)
end
return table.concat(answers)
