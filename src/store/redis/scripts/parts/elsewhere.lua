-- The same id in another queue. An id is that of one job, whatever its queue; only an id that a producer chose can be
-- there already, so only those are looked for. In a cluster the other queues are out of a script's reach:
-- src/store/redis/ops/given.c looks before.

local function names_of_queues(q)
    local names = redis.pcall('SMEMBERS', match(q.base, '^(.-):{') .. ':queues')
    return names.err and {} or names
end

-- The queue that has it, or nil.
local function queue_elsewhere(q, id)
    q.others = q.others or names_of_queues(q)
    for _, name in ipairs(q.others) do
        local base = match(q.base, '^(.-:{)') .. name .. '}:'
        if base ~= q.base and redis.pcall('HEXISTS', base .. 'job', id) == 1 then
            return queue_of(base)
        end
    end
end
