-- What jobs need as they come: the number that is theirs, and whether somebody has to be told.

-- Behind all numbers that there were.
local function clock_seq()
    local time = call('TIME')
    return tonumber(time[1] .. pad(time[2], 6))
end

-- The number before the first of so many. Whoever looks at all queues has to find this one: in a cluster the list may be
-- out of a script's reach, there the client has seen to it, and pools do again and again.
local function take_seq(q, count)
    if not q.is_listed then
        q.is_listed = true
        redis.pcall('SADD', q.queues, q.name)
    end
    return count_up(q, 'seq', count, clock_seq) - count
end

-- Before anybody would look for it: src/job/state.h.
local function is_due_soon(due, now)
    return tonumber(due) <= tonumber(now) + :JOB_SOON
end
