#!lua
-- Stores jobs: all of them or none.
--
-- KEYS: base and state of each queue, which in a cluster is one.
-- ARGV: now; 'check' to look for conflicts only, or nothing; of a cron job the name, the slot and the last
-- slot that is known elsewhere, or three times nothing; then six for each job: number of its queue, how, id, body, payload when it is
-- outside, end of its idempotency record.
-- Answers 'ok' and for each job its state, or 'e' (existed) or 'u' (updated) with state and id; or
-- 'conflict', the number of the job, the state and the type of its twin; or 'late' for a slot.
-- parts: base record place standing ending twins arrival

local now = ARGV[1]
local cron, slot, known = ARGV[3], ARGV[4], ARGV[5]
local queues, arrivals, keyed = {}, {}, false

for i = 1, #KEYS, 2 do
    queues[#queues + 1] = queue_of(KEYS[i])
end
for i = 6, #ARGV, 6 do
    local q = queues[tonumber(ARGV[i])]
    q.expected = (q.expected or 0) + 1
    arrivals[#arrivals + 1] = {
        q = q, how = ARGV[i + 1], id = ARGV[i + 2], body = ARGV[i + 3], payload = ARGV[i + 4],
        expires = ARGV[i + 5],
    }
    keyed = keyed or sub(ARGV[i + 1], 2) == 'k'
end

-- A script is not taken back when it fails half-way: a batch looks for conflicts first, with what
-- its own jobs will have brought by then.
local function find_conflict()
    local seen, types, waits = {}, {}, {}
    for i, a in ipairs(arrivals) do
        local q, j = a.q, arrival_parse(a)
        local by_idempotency = q.base .. 'i' .. j.idempotency_key
        local by_id, by_key = q.base .. 'd' .. j.id, q.base .. 'k' .. j.key
        local answered = j.idempotency_key ~= ''
            and (seen[by_idempotency] or idempotency_find(q, j.idempotency_key, now))
            or seen[by_id] or call('HEXISTS', q.job, j.id) == 1
        if not answered then
            local updates = false
            if j.key ~= '' then
                local twin = not types[by_key] and twin_of(q, j.key)
                local type_there = types[by_key] or twin and twin.type
                if type_there and type_there ~= j.type then
                    return i, twin and twin.state or READY, type_there
                end
                updates = waits[by_key] or twin and twin.state ~= RUNNING
                types[by_key], waits[by_key] = j.type, true
            end
            seen[by_idempotency] = j.idempotency_key ~= ''
            seen[by_id] = not updates
        end
    end
end

if cron ~= '' then
    local last = call('HGET', queues[1].cron, cron) or '0'
    if moment(slot) <= moment(last) or moment(slot) <= moment(known) then
        return {'late'}
    end
end
if keyed then
    local i, state, type_there = find_conflict()
    if i then
        return {'conflict', i, state, type_there}
    end
end
if ARGV[2] == 'check' then
    return {'ok'}
end

-- What has no keys is stored in few commands for all of them.
local function flush(q)
    if q.new_ids then
        each_2000('ZADD', q.ids, q.new_ids)
        each_2000('ZADD', q.ready, q.new_ready)
        each_2000('ZADD', q.scheduled, q.new_scheduled)
    end
    q.new_ids, q.new_ready, q.new_scheduled = {}, {}, {}
end

local function store_simple(q, a)
    local seq, mode = next_seq(q), sub(a.how, 1, 1)
    local priority, due = match(a.body, '^(%d) (%d+) ')
    if call('HSETNX', q.job, a.id, mode .. ' ' .. seq .. ' ' .. a.body) == 0 then
        flush(q)
        return answer_existing(q, a.id)
    end
    if mode == 'P' or mode == 'T' then
        call('HSET', q.payload, a.id, a.payload)
    end
    local place = moment(due) .. pad(seq, 16) .. a.id
    local ids = q.new_ids
    ids[#ids + 1] = 0
    ids[#ids + 1] = a.id
    if sub(place, 1, 18) > now then
        local scheduled = q.new_scheduled
        scheduled[#scheduled + 1] = 0
        scheduled[#scheduled + 1] = place .. priority
        return SCHEDULED
    end
    local ready = q.new_ready
    ready[#ready + 1] = 0
    ready[#ready + 1] = priority .. place
    q.rings = true
    return READY
end

local answers = {'ok'}
for _, q in ipairs(queues) do
    flush(q)
end
for _, a in ipairs(arrivals) do
    if sub(a.how, 2) == 's' then
        answers[#answers + 1] = store_simple(a.q, a)
    else
        flush(a.q)
        answers[#answers + 1] = arrive(a.q, a, now)
    end
end
for _, q in ipairs(queues) do
    flush(q)
    if q.rings then
        ring(q)
    end
end
if cron ~= '' then
    call('HSET', queues[1].cron, cron, slot)
end
return answers
