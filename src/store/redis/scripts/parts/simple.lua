-- Jobs without keys have nothing to look at but their ids. If none of them is stored yet all are, in few commands, and
-- the script ends here: to define what comes after this takes longer than to store a job.
--
-- Each job has these words in ARGV: how it comes (arrival.lua) with the number of its queue, unless both are as of the job
-- before it; id, body; then its payload when that is outside, and the end of its idempotency record when it has keys.

local FIRST_JOB = 7

local now = ARGV[1]
local queues = {}

for i = 1, #KEYS, 2 do
    queues[#queues + 1] = queue_of(KEYS[i])
end

-- The jobs of each queue: their ids, the mode of each, and where in ARGV it begins. False when there are some with keys.
local function simple_read()
    local at, n, mode, step, q, words = FIRST_JOB, 0, nil, nil, nil, ARGV
    for _, queue in ipairs(queues) do
        queue.ids_new, queue.modes, queue.starts = {}, {}, {}
    end
    while words[at] do
        if #words[at] ~= :REDIS_ID_WIDTH then
            local number
            mode, number = match(words[at], '^(%a)s(%d+)$')
            if not number then
                return false
            end
            q, mode, step = queues[tonumber(number)], mode .. ' ', find(mode, '[PT]') and 3 or 2
            n, at = #q.starts, at + 1
        end
        n = n + 1
        q.ids_new[n], q.modes[n], q.starts[n] = words[at], mode, at
        at = at + step
    end
    return true
end

-- Ids that sort after all that there are need not be looked for. Whether `ids` knows all is told by their number.
local function sorts_last(q, ids)
    for i = 2, #ids do
        if ids[i] <= ids[i - 1] then
            return false
        end
    end
    local single, page = call('ZREVRANGE', q.ids, 0, 0)[1], call('ZREVRANGE', q.ids_pages, 0, 0)[1]
    return not (single and single >= ids[1]) and not (page and sub(page, -#ids[1]) >= ids[1])
        and call('HLEN', q.job) == pages.count(q, 'ids')
end

-- Whether all its ids are new here, and each comes once.
local function is_new(q)
    local ids, seen = q.ids_new, {}
    if #ids >= pages.SIZE and sorts_last(q, ids) then
        return true
    end
    for first = 1, #ids, 2000 do
        local part = {unpack(ids, first, math.min(first + 1999, #ids))}
        for i, record in ipairs(call('HMGET', q.job, unpack(part))) do
            if record or seen[part[i]] then
                return false
            end
            seen[part[i]] = true
        end
    end
    return true
end

-- All there is to write for its jobs.
local function simple_prepare(q)
    local ids, words, records, payloads, ready, scheduled, states = q.ids_new, ARGV, {}, {}, {}, {}, {}
    local seq = #ids > 0 and take_seq(q, #ids)
    local head, digits, priority, due, zeros -- as of the job before
    q.joins = seq and #ids < pages.SIZE and join_is_due(seq, #ids)
    for i, id in ipairs(ids) do
        local at = q.starts[i]
        local mode, body, number = q.modes[i], words[at + 1], format('%d', seq + i)
        if #number ~= digits or find(body, head, 1, true) ~= 1 then
            priority, due = match(body, '^(%d) (%d+) ')
            head, digits = priority .. ' ' .. due .. ' ', #number
            due, zeros = moment(due), pad('', 16 - digits)
        end
        records[2 * i - 1], records[2 * i] = id, mode .. number .. ' ' .. body
        if mode == 'P ' or mode == 'T ' then
            local n = #payloads
            payloads[n + 1], payloads[n + 2] = id, words[at + 2]
        end
        if due > now then
            local n = #scheduled
            scheduled[n + 1], scheduled[n + 2] = '0', due .. zeros .. number .. id .. priority
            q.rings = q.rings or is_due_soon(due, now)
            states[i] = SCHEDULED
        else
            ready[#ready + 1] = priority .. due .. zeros .. number .. id
            states[i] = READY
        end
    end
    q.records, q.payloads, q.ready_new, q.scheduled_new, q.states = records, payloads, ready, scheduled, states
    q.rings = q.rings or #ready > 0
end

local function simple_write()
    for _, q in ipairs(queues) do
        each_2000('HSET', q.job, q.records)
        each_2000('HSET', q.payload, q.payloads)
        pages.add(q, 'ids', q.ids_new)
        pages.add(q, 'ready', q.ready_new)
        each_2000('ZADD', q.scheduled, q.scheduled_new)
        if q.joins then
            join(q.ids, :REDIS_ID_WIDTH, q.ids_new[#q.ids_new])
            if q.ready_new[1] then
                join(q.ready, :REDIS_READY_WIDTH, q.ready_new[#q.ready_new])
            end
        end
    end
end

-- A key of another type is met half-way: what was not placed would be taken for stored by whoever repeats it.
local function simple_take_back()
    for _, q in ipairs(queues) do
        pcall(each_2000, 'HDEL', q.job, q.ids_new)
        pcall(pages.remove, q, 'ids', q.ids_new)
        pcall(pages.remove, q, 'ready', q.ready_new)
        pcall(each_2000, 'ZREM', q.scheduled, q.scheduled_new) -- and the scores, which are none of its members
    end
end

-- States of the jobs in the order that they came in.
local function simple_answer()
    local states = {}
    if not queues[2] then
        return {'ok', table.concat(queues[1].states)}
    end
    for _, q in ipairs(queues) do
        for i, at in ipairs(q.starts) do
            states[#states + 1] = {at, q.states[i]}
        end
    end
    table.sort(states, function(a, b) return a[1] < b[1] end)
    for i, state in ipairs(states) do
        states[i] = state[2]
    end
    return {'ok', table.concat(states)}
end

local function simple_store()
    for _, q in ipairs(queues) do
        if not is_new(q) then
            return
        end
    end
    for _, q in ipairs(queues) do
        simple_prepare(q)
    end
    local stored, failure = pcall(simple_write)
    if not stored then
        simple_take_back()
        return failed(failure)
    end
    for _, q in ipairs(queues) do
        if q.rings then
            ring(q)
        end
    end
    return simple_answer()
end

if ARGV[3] == '' and simple_read() then
    local answer = ARGV[2] == 'check' and {'ok'} or simple_store()
    if answer then
        return answer
    end
end
