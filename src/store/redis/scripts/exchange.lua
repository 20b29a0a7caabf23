#!lua flags=allow-oom
-- Settles, then reserves: all that a dispatcher does under load. It works also when memory is short, so
-- that jobs can come to their end.
--
-- KEYS: base and state of the queue.
-- ARGV: now, whether that follows this server's clock, number of settlements, three for each of them (settle.lua); and if jobs are wanted: how many,
-- end of the leases, batch token, index of the first in the batch, pool, max_running, rate's count
-- and period, the ready member to start behind, then the types that are wanted.
-- Answers verdicts, is_full, limited_until, the member to go on behind when not all of the queue was
-- looked at, the jobs' ready members, and their records.
-- parts: base damage record place standing ending twins leaving elsewhere arrival settle expiry reclaim limits

local RECLAIM_MOST = 1000
local READY_MOST = 2000

local q = queue_of(KEYS[1])
local now = ARGV[1]
local over = over_at(now, ARGV[2]) -- what is settled or taken back is so by this
local settled = tonumber(ARGV[3])
local verdicts = settle_all(q, 4, settled, over)
local at = 4 + 3 * settled

local function finish()
    announce_vacancy(q)
    if q.rings and call('ZCARD', q.ready) > 0 then
        ring(q)
    end
end

if not ARGV[at] then
    finish()
    return {verdicts}
end

local max, expires, batch, index = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
local pool, max_running = ARGV[at + 4], tonumber(ARGV[at + 5])
local rate_count, rate_period = tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7])
local behind, first_type = ARGV[at + 8], at + 9

local state = call('HMGET', q.state, 'paused_at', 'spent_until', 'rung', 'next_expiry')
if state[4] and (state[4] <= over or not is_moment(state[4])) then
    reclaim(q, over, RECLAIM_MOST)
end
local paused, spent_until, rung = state[1], tonumber(state[2] or '0') or 0, state[3]
local moment_now = tonumber(now)
local rate = rate_count > 0 and rate_of(rate_count, rate_period)
local running_room, rate_room = math.huge, math.huge
if max_running > 0 then
    running_room = math.max(max_running - call('HLEN', q.lease), 0)
end
if rate then
    rate_room = rate_allows(rate, spent_until, moment_now)
end
local room = paused and 0 or math.min(max, running_room, rate_room)

local function records_of(members)
    local ids = {}
    for i, member in ipairs(members) do
        ids[i] = sub(member, 36)
    end
    return ids, call('HMGET', q.job, unpack(ids))
end

-- The first in line, and what is known of them. A member whose job was deleted by hand is dropped.
local members, ids, records = {}, {}, {}
local looked_to = ''

local function take_first(wanted)
    while #members < wanted do
        local part = call('ZRANGE', q.ready, 0, math.min(wanted - #members, READY_MOST) - 1)
        if #part == 0 then
            return
        end
        local part_ids, part_records = records_of(part)
        call('ZREMRANGEBYRANK', q.ready, 0, #part - 1)
        for i, record in ipairs(part_records) do
            if record then
                local n = #members + 1
                members[n], ids[n], records[n] = part[i], part_ids[i], record
            elseif #part[i] ~= PLACE_LENGTH then
                note_damage(q, 'ready', part[i], part[i])
            end
        end
    end
end

local function take_types(wanted)
    local types = {}
    for i = first_type, #ARGV do
        types[ARGV[i]] = true
    end
    local part = call('ZRANGEBYLEX', q.ready, behind == '' and '-' or '(' .. behind, '+', 'LIMIT', 0,
        READY_MOST)
    if #part == 0 then
        return
    end
    local part_ids, part_records = records_of(part)
    for i, record in ipairs(part_records) do
        if #members == wanted then
            return
        end
        local j = record and job_parse(part_ids[i], record)
        if j and (types[j.type] or j.broken) then
            local n = #members + 1
            members[n], ids[n], records[n] = part[i], part_ids[i], record
            call('ZREM', q.ready, part[i])
        end
    end
    looked_to = #part == READY_MOST and part[#part] or ''
end

-- Each gets its lease; what is not plain is looked at, and so is a payload that is kept elsewhere.
local function lease_out()
    local leases = {}
    local rest_plain = expires .. ' 1 ' .. text_of(moment_now) .. ' 0 0 ' .. pool
    local rest = ' ' .. text_of(moment_now) .. ' 0 0 ' .. pool
    local token_of = struct.pack
    for i = 1, #ids do
        local id, record = ids[i], records[i]
        local mode = sub(record, 1, 1)
        local token = batch .. token_of('>I4', index + i - 1)
        local lease
        if mode == 'p' then
            lease = 'p' .. token .. rest_plain
        else
            local j = job_parse(id, record)
            lease = (mode == 'P' and 'p' or 't') .. token .. expires .. ' ' .. text_of(j.executions + 1)
                .. rest
            if j.key ~= '' then
                twins_store(q, j.key, nil, id)
            end
            if j.outside then
                records[i] = with_payload(q, id, record)
            end
        end
        local n = 2 * i
        leases[n - 1], leases[n] = id, lease
    end
    each_2000('HSET', q.lease, leases)
    if #ids > 0 then
        expect_expiry(q, expires)
    end
end

-- A key of another type is met half-way: who has no lease yet waits on.
local function put_back()
    for i, member in ipairs(members) do
        local leased = redis.pcall('HEXISTS', q.lease, ids[i])
        if leased ~= 1 then
            redis.pcall('ZADD', q.ready, 0, member)
        end
    end
end

if room > 0 then
    local taken, failure = pcall(ARGV[first_type] and take_types or take_first, room)
    if taken then
        taken, failure = pcall(lease_out)
    end
    if not taken then
        put_back()
        return failed(failure)
    end
end

local taken = #ids
local is_full, limited_until = 0, '0'
if rate and taken > 0 then
    spent_until = rate_spend(rate, spent_until, moment_now, taken)
    call('HSET', q.state, 'spent_until', text_of(spent_until))
    rate_room = rate_room - taken
end
running_room = running_room - taken
if running_room == 0 then
    q.left = false
end
if not paused and taken < max and (running_room == 0 or rate_room == 0)
    and call('ZCARD', q.ready) > 0 then
    if running_room == 0 then
        is_full = 1
        call('HSET', q.state, 'awaited', '1')
    end
    if rate_room == 0 then
        limited_until = text_of(rate_next(rate, spent_until, moment_now))
    end
end

-- Whoever finds too little may go to sleep: the next job rings.
if taken < max and rung then
    call('HDEL', q.state, 'rung')
end
finish()
return {verdicts, is_full, limited_until, taken < room and looked_to or '', members, records}
