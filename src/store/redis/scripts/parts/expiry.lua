-- When leases run out. They have no index by that: `next_expiry` of the queue's state is a moment before
-- which none does, made exact by whoever looks when it has passed. So a lease costs one entry in one hash.
--
-- A look at many leases is made in parts: `look_cursor` says where the next part starts, `look_min` what the
-- earliest end is of those that were seen so far or were given meanwhile.

local LOOK_PAGE = 500
local LOOK_MOST = 5000
local LOOK_AGAIN = 5000000 -- microseconds
local NEVER = string.rep('9', 18) -- digits: what sorts behind them depends on the server's locale

-- A lease that ends at this moment is given: the queue has to expect it.
local function expect_expiry(q, expires)
    local known = call('HMGET', q.state, 'next_expiry', 'look_min')
    if not known[1] or expires < known[1] then
        call('HSET', q.state, 'next_expiry', expires)
    end
    if known[2] and expires < known[2] then
        call('HSET', q.state, 'look_min', expires)
    end
end

local function has_leases(q)
    return call('HLEN', q.lease) > 0 or call('HLEN', q.batch) > 0 or call('HLEN', q.batch_ids) > 0
end

-- Where a look goes on is a place in the server's memory, which means nothing after a restart: a look that was
-- made in parts may have passed some over. So while there is any lease there is another look.
local function end_look(q, earliest, in_parts, now)
    call('HDEL', q.state, 'look_cursor', 'look_min')
    if not has_leases(q) then
        call('HDEL', q.state, 'next_expiry')
        return
    end
    local again = earliest == NEVER and now or moment(text_of(now + LOOK_AGAIN))
    if (in_parts or earliest == NEVER) and again < earliest then
        earliest = again
    end
    call('HSET', q.state, 'next_expiry', earliest)
end

-- What is written there may be anything.
local function look_start(q)
    local look = call('HMGET', q.state, 'look_cursor', 'look_min')
    if look[1] and #look[1] <= 19 and not find(look[1], '%D') and is_moment(look[2]) then
        return look[1], look[2]
    end
    return '0', NEVER
end

local function may_have_expired(q, next_expiry, now)
    if not next_expiry then
        return has_leases(q)
    end
    return next_expiry <= now or not is_moment(next_expiry)
end

-- A batch that cannot be read has run out: those of its jobs that can still be told get a lease that has.
local function salvage(q, name, now)
    local text, ids = call('HGET', q.batch, name) or '', call('HGET', q.batch_ids, name) or ''
    note_damage(q, 'batch', string.gsub(name, '.', function(c) return format('%02x', string.byte(c)) end), text .. ids)
    q.batches[name] = false
    expect_expiry(q, moment('0'))
    for id in ids_in(ids) do
        local j = standing(q, id)
        if j and j.is_lost then
            j.mode, j.token, j.expires_at, j.executions, j.started_at = 't', NO_TOKEN, '0', text_of(j.executions + 1), now
            lease_write(q, j)
        end
    end
    call('HDEL', q.batch, name)
    call('HDEL', q.batch_ids, name)
end

-- As many as may be of a batch that ran out. Answers how many.
local function empty_batch(q, name, now, most, take_back)
    local b, moved = batch.load(q, name), 0
    if not b or find(b.ids, '[^%x-]') then
        salvage(q, name, now)
        return 0
    end
    for place = 1, b.count do
        if moved == most then
            break
        elseif batch.is_open(b, place) then
            local id = batch.id_at(b, place)
            local j = standing(q, id, b.name .. struct.pack('>I4', b.first + place - 1))
            if j and j.batch then
                take_back(q, j, now)
            else -- it has been removed by somebody, or has a lease of its own
                batch.close(q, b, place)
            end
            moved = moved + 1
        end
    end
    return moved
end

-- The records of batches are few and short: all of them are looked at. Answers how many leases were taken back, whether
-- there may be more, and the earliest end of the others.
local function each_expired_batch(q, now, limit, take_back)
    local all, moved, earliest = call('HGETALL', q.batch), 0, NEVER
    for i = 1, #all, 2 do
        local head = batch.read_head(all[i + 1])
        if head and head.expires_at > now then
            earliest = head.expires_at < earliest and head.expires_at or earliest
        elseif moved == limit then
            return moved, true
        else
            moved = moved + empty_batch(q, all[i], now, limit - moved, take_back)
        end
    end
    if call('HLEN', q.batch_ids) > call('HLEN', q.batch) then
        for _, name in ipairs(call('HKEYS', q.batch_ids)) do
            if call('HEXISTS', q.batch, name) == 0 then
                salvage(q, name, now)
            end
        end
    end
    return moved, false, earliest
end

-- Calls take_back(q, j, now) for at most `limit` leases that ran out. Answers how many, and whether there
-- may be more.
local function each_expired(q, now, limit, take_back)
    if not may_have_expired(q, call('HGET', q.state, 'next_expiry'), now) then
        return 0, false
    end
    local moved, more, earliest_batch = each_expired_batch(q, now, limit, take_back)
    if more then
        return moved, true
    end
    local cursor, earliest = look_start(q)
    local in_parts = cursor ~= '0'
    local seen = 0
    repeat
        local page = call('HSCAN', q.lease, cursor, 'COUNT', LOOK_PAGE)
        local leases = page[2]
        for i = 1, #leases, 2 do
            local expires = sub(leases[i + 1], 22, 39)
            if expires > now and is_moment(expires) then
                earliest = expires < earliest and expires or earliest
            elseif moved == limit then
                call('HSET', q.state, 'look_cursor', cursor, 'look_min', earliest)
                return moved, true
            else
                local j = standing(q, leases[i])
                if j and j.state == RUNNING then
                    take_back(q, j, now)
                else
                    call('HDEL', q.lease, leases[i])
                    q.left = true
                end
                moved = moved + 1
            end
        end
        cursor = page[1]
        seen = seen + #leases / 2
    until cursor == '0' or seen >= LOOK_MOST
    if cursor ~= '0' then
        call('HSET', q.state, 'look_cursor', cursor, 'look_min', earliest)
        return moved, true
    end
    end_look(q, earliest_batch < earliest and earliest_batch or earliest, in_parts, now)
    return moved, false
end
