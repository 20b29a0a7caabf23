#!lua
-- Stores jobs: all of them or none.
--
-- KEYS: base and state of each queue, which in a cluster is one.
-- ARGV: now; 'check' to look for conflicts only, or nothing; of a cron job the name, the slot, the last slot
-- that is known elsewhere and the latest that can be believed, or four times nothing; then six for each job: number of its queue, how, id, body, payload when it is
-- outside, end of its idempotency record.
-- Answers 'ok' and for each job its state, or 'e' (existed) or 'u' (updated) with state and id; or
-- 'conflict', the number of the job, the state and the type of its twin; or 'late' for a slot.
-- parts: base damage record place batch standing ending twins elsewhere arrival

local FIRST, WORDS = 7, 6 -- where the jobs start in ARGV, and how many words each has

local now = ARGV[1]
local cron, slot, known, horizon = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local queues, arrivals, keyed = {}, {}, false

for i = 1, #KEYS, 2 do
    queues[#queues + 1] = queue_of(KEYS[i])
    queues[#queues].added = {}
end
for i = FIRST, #ARGV, WORDS do
    local q = queues[tonumber(ARGV[i])]
    q.expected = (q.expected or 0) + 1
    keyed = keyed or sub(ARGV[i + 1], 2, 2) == 'k'
end

local function read_arrivals()
    for i = FIRST, #ARGV, WORDS do
        arrivals[#arrivals + 1] = {
            q = queues[tonumber(ARGV[i])], how = ARGV[i + 1], id = ARGV[i + 2], body = ARGV[i + 3],
            payload = ARGV[i + 4], expires = ARGV[i + 5],
        }
    end
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
            or is_given(a) and (seen[j.id] or queue_elsewhere(q, j.id))
        if not answered then
            local updates = false
            if j.key ~= '' then
                local twin = not types[by_key] and twin_of(q, j.key)
                local type_there = types[by_key] or twin and not twin.broken and twin.type
                if type_there and type_there ~= j.type then
                    return i, twin and twin.state or READY, type_there
                end
                updates = waits[by_key] or twin and twin.state ~= RUNNING
                types[by_key], waits[by_key] = j.type, true
            end
            seen[by_idempotency] = j.idempotency_key ~= ''
            seen[by_id], seen[j.id] = not updates, not updates
        end
    end
end

if cron ~= '' then
    local last = call('HGET', queues[1].cron, cron) or '0'
    if #last > 18 or string.find(last, '%D') then
        note_damage(queues[1], 'cron', cron, last)
        last = '0'
    end
    if moment(last) > moment(horizon) then
        last = '0'
    end
    if moment(slot) <= moment(last) or moment(slot) <= moment(known) then
        return {'late'}
    end
end
if keyed then
    read_arrivals()
    local i, state, type_there = find_conflict()
    if i then
        return {'conflict', i, state, type_there}
    end
end
if ARGV[2] == 'check' then
    return {'ok'}
end

-- Jobs without keys have nothing to look at but their ids: they are stored in few commands for all of
-- them. What is there already is found first, and what comes twice in the batch on the way.
local function add_pair(list, first, second)
    local n = #list
    list[n + 1], list[n + 2] = first, second
end

local function find_stored()
    for _, q in ipairs(queues) do
        q.batch, q.stored = {}, {}
        q.new_jobs, q.new_ids, q.new_payloads, q.new_ready, q.new_scheduled = {}, {}, {}, {}, {}
    end
    for i = FIRST, #ARGV, WORDS do
        local batch = queues[tonumber(ARGV[i])].batch
        batch[#batch + 1] = ARGV[i + 2]
    end
    for _, q in ipairs(queues) do
        for first = 1, #q.batch, 2000 do
            local last = math.min(first + 1999, #q.batch)
            for k, record in ipairs(call('HMGET', q.job, unpack(q.batch, first, last))) do
                q.stored[q.batch[first + k - 1]] = record
            end
        end
    end
end

local function add_simple(q, mode, id, body, payload)
    local priority, due = match(body, '^(%d) (%d+) ')
    local seq = next_seq(q)
    local place = moment(due) .. pad(seq, 16) .. id
    q.stored[id] = true
    q.added[#q.added + 1] = id
    add_pair(q.new_jobs, id, mode .. ' ' .. seq .. ' ' .. body)
    add_pair(q.new_ids, 0, id)
    if mode == 'P' or mode == 'T' then
        add_pair(q.new_payloads, id, payload)
    end
    if moment(due) > now then
        add_pair(q.new_scheduled, 0, place .. priority)
        q.rings = q.rings or is_due_soon(due, now)
        return SCHEDULED
    end
    add_pair(q.new_ready, 0, priority .. place)
    q.rings = true
    return READY
end

local function store_simple(answers)
    local doubles = {}
    for i = FIRST, #ARGV, WORDS do
        local q, id = queues[tonumber(ARGV[i])], ARGV[i + 2]
        if q.stored[id] then
            doubles[#answers + 1] = q
            answers[#answers + 1] = id
        else
            answers[#answers + 1] = add_simple(q, sub(ARGV[i + 1], 1, 1), id, ARGV[i + 3], ARGV[i + 4])
        end
    end
    for _, q in ipairs(queues) do
        each_2000('HSET', q.job, q.new_jobs)
        each_2000('HSET', q.payload, q.new_payloads)
        each_2000('ZADD', q.ids, q.new_ids)
        each_2000('ZADD', q.ready, q.new_ready)
        each_2000('ZADD', q.scheduled, q.new_scheduled)
    end
    for i, q in pairs(doubles) do
        answers[i] = answer_existing(q, answers[i])
    end
end

local function store_keyed(answers)
    for _, a in ipairs(arrivals) do
        answers[#answers + 1] = arrive(a.q, a, now)
    end
end

local function take_back_place(q, id)
    local j = standing(q, id)
    if j then
        place_remove(q, j)
    end
end

-- A key of another type is met half-way: what was not placed would be taken for stored by whoever repeats it.
local function take_back()
    for _, q in ipairs(queues) do
        for _, id in ipairs(q.added) do
            pcall(take_back_place, q, id)
            redis.pcall('HDEL', q.job, id)
            redis.pcall('ZREM', q.ids, id)
        end
    end
end

local answers = {'ok'}
if not keyed then
    find_stored()
end
local stored, failure = pcall(keyed and store_keyed or store_simple, answers)
if not stored then
    take_back()
    return failed(failure)
end
for _, q in ipairs(queues) do
    if q.rings then
        ring(q)
    end
end
if cron ~= '' then
    call('HSET', queues[1].cron, cron, slot)
end
return answers
