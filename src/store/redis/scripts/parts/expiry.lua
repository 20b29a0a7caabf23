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

-- Where a look goes on is a place in the server's memory, which means nothing after a restart: a look that was
-- made in parts may have passed some over. So while there is any lease there is another look.
local function end_look(q, earliest, in_parts, now)
    call('HDEL', q.state, 'look_cursor', 'look_min')
    if call('HLEN', q.lease) == 0 then
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
    if look[1] and #look[1] <= 19 and not string.find(look[1], '%D') and is_moment(look[2]) then
        return look[1], look[2]
    end
    return '0', NEVER
end

local function may_have_expired(q, next_expiry, now)
    if not next_expiry then
        return call('HLEN', q.lease) > 0
    end
    return next_expiry <= now or not is_moment(next_expiry)
end

-- Calls take_back(q, id, now) for at most `limit` leases that ran out. Answers how many, and whether there
-- may be more.
local function each_expired(q, now, limit, take_back)
    if not may_have_expired(q, call('HGET', q.state, 'next_expiry'), now) then
        return 0, false
    end
    local cursor, earliest = look_start(q)
    local in_parts = cursor ~= '0'
    local moved, seen = 0, 0
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
                take_back(q, leases[i], now)
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
    end_look(q, earliest, in_parts, now)
    return moved, false
end
