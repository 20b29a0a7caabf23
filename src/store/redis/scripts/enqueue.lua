#!lua
-- Stores jobs: all of them or none.
--
-- KEYS: base and state of each queue, which in a cluster is one.
-- ARGV: now; 'check' to look for conflicts only, or nothing; of a cron job the name, the slot, the last slot
-- that is known elsewhere and the latest that can be believed, or four times nothing; then the jobs (parts/simple.lua).
-- Answers 'ok' and one character for each job: its state, or 'e' (existed) or 'u' (updated); then for each 'e' and 'u' the
-- state and the id of the job that is there. Or 'conflict', the number of the job, the state and the type of its twin;
-- or 'late' for a slot.
-- parts: base damage pages join sequence simple record place batch standing ending twins elsewhere arrival

local cron, slot, known, horizon = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local arrivals = {}

local function read_arrivals()
    local at, how, number = FIRST_JOB, nil, nil
    while ARGV[at] do
        if #ARGV[at] ~= :REDIS_ID_WIDTH then
            how, number = match(ARGV[at], '^(%a+)(%d+)$')
            at = at + 1
        end
        local a = {q = queues[tonumber(number)], how = how, id = ARGV[at], body = ARGV[at + 1], payload = '', expires = '0'}
        at = at + 2
        if match(how, '^[PT]') then
            a.payload = ARGV[at]
            at = at + 1
        end
        if match(how, '^.k') then
            a.expires = ARGV[at]
            at = at + 1
        end
        a.q.expected = (a.q.expected or 0) + 1
        arrivals[#arrivals + 1] = a
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
    if #last > 18 or find(last, '%D') then
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
read_arrivals()
local conflicting, state, type_there = find_conflict()
if conflicting then
    return {'conflict', conflicting, state, type_there}
end
if ARGV[2] == 'check' then
    return {'ok'}
end

for _, q in ipairs(queues) do
    q.added = {}
end

local function store_all()
    local states, answer = {}, {'ok', ''}
    for _, a in ipairs(arrivals) do
        local arrived = arrive(a.q, a, now)
        states[#states + 1] = sub(arrived, 1, 1)
        if #arrived > 1 then
            answer[#answer + 1] = sub(arrived, 2)
        end
    end
    answer[2] = table.concat(states)
    return answer
end

local function take_back_place(q, id)
    local j = standing(q, id)
    if j then
        place_remove(q, j)
        extras.leave_tags(q, j)
    end
end

-- A key of another type is met half-way: what was not placed would be taken for stored by whoever repeats it.
local function take_back()
    for _, q in ipairs(queues) do
        for _, id in ipairs(q.added) do
            pcall(take_back_place, q, id)
            redis.pcall('HDEL', q.job, id)
            pcall(pages.remove, q, 'ids', {id})
        end
    end
end

local stored, answer = pcall(store_all)
if not stored then
    take_back()
    return failed(answer)
end
for _, q in ipairs(queues) do
    if q.rings then
        ring(q)
    end
end
if cron ~= '' then
    call('HSET', queues[1].cron, cron, slot)
end
return answer
