-- A pool that has little to do wants some jobs and has none to settle. If the queue has no limits and only a few plain jobs
-- that wait, they are reserved here, as reserve.lua would, and the script ends: to define what comes after this takes
-- longer than the whole rest of the way of such a job through this server.
--
-- Nothing is changed before it is known that nothing has to be looked at more closely.

-- Whether the queue just gives out what it has: not paused, no lease that may be over, no look at leases under way.
local function few_are_free(state, now)
    local paused, expiry, look = state[1], state[3], state[4]
    return not paused and not look and (not expiry or #expiry == 18 and expiry > now)
end

-- Up to where others would get a lease together; nothing when there are as many, or not all of them are plain.
local function few_waiting(base, most)
    local ready, ids = redis.call('ZRANGE', base .. 'ready', '0', most - 1), {}
    if #ready == 0 then
        return ready, ids, {}
    end
    for i, member in ipairs(ready) do
        ids[i] = string.sub(member, :REDIS_READY_ID + 1)
    end
    local records = redis.call('HMGET', base .. 'job', unpack(ids))
    for i, record in ipairs(records) do
        if not record or string.byte(record) ~= 112 or #ready[i] ~= :REDIS_READY_WIDTH then
            return nil
        end
    end
    return ready, ids, records
end

-- From ARGV[4] on is what is wanted: exchange.lua.
local function few_lease(base, state, ready, ids, expiry)
    local leases, expires = {}, ARGV[5]
    local rest = expires .. ' 1 ' .. string.match(ARGV[1], '^0*(%d+)$') .. ' 0 0 ' .. ARGV[9]
    for i, id in ipairs(ids) do
        leases[2 * i - 1] = id
        leases[2 * i] = 'p' .. ARGV[6] .. struct.pack('>I4', ARGV[7] + i - 1) .. rest
    end
    redis.call('HSET', base .. 'lease', unpack(leases))
    redis.call('ZREM', base .. 'ready', unpack(ready))
    if not expiry or expires < expiry then
        redis.call('HSET', state, 'next_expiry', expires)
    end
end

-- The script's answer; nothing when it takes more.
local function reserve_few()
    local base, key, now, most, together = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[8])
    local state = redis.call('HMGET', key, 'paused_at', 'rung', 'next_expiry', 'look_min')
    if not few_are_free(state, now) or redis.call('EXISTS', base .. 'ready_pages') == 1 then
        return nil
    end
    local ready, ids, records = few_waiting(base, math.min(most, together))
    if not ready or #ready >= together then
        return nil
    end
    if #ready > 0 then
        few_lease(base, key, ready, ids, state[3])
    end
    if #ready < most and state[2] then
        redis.call('HDEL', key, 'rung')
    end
    return {'', 0, '0', '', ready, records}
end

-- No settlements, neither max_running nor rate, jobs of any type, and leases that end together.
if ARGV[3] == '0' and ARGV[10] == '0' and ARGV[11] == '0' and not ARGV[14] and tonumber(ARGV[5]) then
    local few = reserve_few()
    if few then
        return few
    end
end
