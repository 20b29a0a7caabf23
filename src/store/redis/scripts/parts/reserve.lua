-- Ready jobs are taken and given out, each with a lease: of its own, or with the others.
--
-- `wanted` is what the caller says; `taken` has the jobs' members of `ready`, ids and records, and which of them have
-- got a lease together.

local READY_MOST = :REDIS_LOOK_MOST
local PLAIN = string.byte('p')

-- From ARGV[at] on; see exchange.lua.
local function wanted_read(at)
    local default, lead = match(ARGV[at + 1], '^(%d+) (%d+)$')
    return {max = tonumber(ARGV[at]), expires = ARGV[at + 1], default = default, lead = lead, token = ARGV[at + 2], index = tonumber(ARGV[at + 3]),
        batch_min = tonumber(ARGV[at + 4]), pool = ARGV[at + 5], max_running = tonumber(ARGV[at + 6]),
        rate_count = tonumber(ARGV[at + 7]), rate_period = tonumber(ARGV[at + 8]), behind = ARGV[at + 9],
        first_type = at + 10}
end

local function records_of(q, members)
    local ids = {}
    for i, member in ipairs(members) do
        ids[i] = sub(member, 36)
    end
    return ids, #ids > 0 and call('HMGET', q.job, unpack(ids)) or {}
end

local function taken_add(taken, member, id, record)
    local n = #taken.ids + 1
    taken.members[n], taken.ids[n], taken.records[n] = member, id, record
end

-- Whoever can still be told from a damaged page has its place again.
local function salvage_page(q, page)
    note_damage(q, 'ready_pages', page, page)
    for id in ids_in(page) do
        local j = standing(q, id)
        if j and j.is_lost then
            j.state = READY
            place_add(q, j)
        end
    end
end

-- The first in line. A member whose job was deleted by hand is dropped.
local function take_first(q, taken, room)
    while #taken.ids < room do
        local part, damaged = pages.take(q, 'ready', math.min(room - #taken.ids, READY_MOST))
        for _, page in ipairs(damaged) do
            salvage_page(q, page)
        end
        if #part == 0 and #damaged == 0 then
            return
        end
        local ids, records = records_of(q, part)
        for i, record in ipairs(records) do
            if record then
                taken_add(taken, part[i], ids[i], record)
            elseif #part[i] ~= PLACE_LENGTH or not is_id(ids[i]) then
                note_damage(q, 'ready', part[i], part[i])
            end
        end
    end
end

-- The first of these types, among so many. Answers up to where it has looked, or nothing when that was all.
local function take_types(q, taken, room, wanted)
    local types = {}
    for i = wanted.first_type, #ARGV do
        types[ARGV[i]] = true
    end
    local part = pages.range(q, 'ready', wanted.behind == '' and '-' or '(' .. wanted.behind, '+', READY_MOST, true)
    if #part == 0 then
        return
    end
    local ids, records = records_of(q, part)
    local is_full = false
    for i, record in ipairs(records) do
        is_full = #taken.ids == room
        if is_full then
            break
        end
        local j = record and job_parse(ids[i], record)
        if j and (types[j.type] or j.broken) then
            taken_add(taken, part[i], ids[i], record)
        end
    end
    pages.remove(q, 'ready', taken.members)
    taken.looked_to = #part == READY_MOST and not is_full and part[#part] or ''
end

-- Those that get a lease together: the plain ones, if they are enough. Who asks again with the same token finds it
-- taken, and gets leases one by one.
local function find_shared(q, taken, wanted)
    local shared, count, records = {}, 0, taken.records
    for i = 1, math.min(#records, BATCH_MOST) do
        if string.byte(records[i]) == PLAIN then
            shared[i] = true
            count = count + 1
        end
    end
    if count < wanted.batch_min or wanted.default or call('HEXISTS', q.batch_ids, wanted.token) == 1 then
        return {}, 0
    end
    return shared, count
end

-- A lease that is as long as its job may run.
local function own_expiry(wanted, j, now)
    local timeout = tonumber(j.timeout) or 0
    return moment(text_of(tonumber(now) + (timeout > 0 and timeout or wanted.default) + wanted.lead))
end

-- What is not plain is looked at, and so is a payload that is kept elsewhere.
local function lease_alone(q, taken, i, wanted, now)
    local id, record = taken.ids[i], taken.records[i]
    local mode, executions, expires = sub(record, 1, 1), '1', wanted.expires
    local j = (mode ~= 'p' or wanted.default) and job_parse(id, record)
    if wanted.default then
        expires = own_expiry(wanted, j, now)
        taken.expires = taken.expires and taken.expires < expires and taken.expires or expires
    end
    if mode ~= 'p' then
        mode, executions = mode == 'P' and not j.broken and 'P' or 't', text_of(j.executions + 1)
        if j.key ~= '' then
            twins_store(q, j.key, nil, id)
        end
        if j.outside then
            taken.records[i] = with_payload(q, id, record)
        end
    end
    return lease_text({mode = mode, token = wanted.token .. struct.pack('>I4', wanted.index + i - 1),
        expires_at = expires, executions = executions, started_at = now, worker = '0',
        cancel_requested_at = '0', pool = wanted.pool})
end

local function lease_together(q, taken, shared, count, wanted, now)
    local ids, bits = {}, {}
    for i = 1, math.min(#taken.ids, BATCH_MOST) do
        local at = floor((i - 1) / 8) + 1
        bits[at] = (bits[at] or 0) + (shared[i] and BIT[(i - 1) % 8] or 0)
        ids[i] = shared[i] and taken.ids[i] or NO_ID
    end
    call('HSET', q.batch_ids, wanted.token, table.concat(ids))
    batch.write(q, {name = wanted.token, expires_at = wanted.expires, first = wanted.index, count = #ids, open = count,
        started_at = now, pool = wanted.pool, bits = bits})
end

local function lease_out(q, taken, wanted, now)
    local shared, count = find_shared(q, taken, wanted)
    local leases = {}
    for i = 1, #taken.ids do
        if not shared[i] then
            local n = #leases
            leases[n + 1], leases[n + 2] = taken.ids[i], lease_alone(q, taken, i, wanted, now)
        end
    end
    each_2000('HSET', q.lease, leases)
    if count > 0 then
        lease_together(q, taken, shared, count, wanted, now)
        taken.shared = shared
    end
    if #taken.ids > 0 then
        expect_expiry(q, taken.expires or wanted.expires)
    end
end

-- A key of another type is met half-way: who has no lease yet waits on.
local function put_back(q, taken, wanted)
    if not next(taken.shared) then
        redis.pcall('HDEL', q.batch_ids, wanted.token)
    end
    for i, member in ipairs(taken.members) do
        if not taken.shared[i] and redis.pcall('HEXISTS', q.lease, taken.ids[i]) ~= 1 then
            redis.pcall('ZADD', q.ready, 0, member)
        end
    end
end

-- Up to `room` of them. Answers what is taken, or what went wrong.
local function reserve(q, room, wanted, now)
    local taken = {members = {}, ids = {}, records = {}, shared = {}, looked_to = ''}
    if room == 0 then
        return taken
    end
    local done, failure = pcall(ARGV[wanted.first_type] and take_types or take_first, q, taken, room, wanted)
    if done then
        done, failure = pcall(lease_out, q, taken, wanted, now)
    end
    if not done then
        put_back(q, taken, wanted)
        return nil, failure
    end
    return taken
end
