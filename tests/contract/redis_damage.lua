-- Damages one record of a queue, as a disk, a person or another program might. KEYS: a key. ARGV: kind ('hash', 'zset' or
-- 'key'), the field (nothing for the first that there is) or a part of the member, way. Answers whether there was
-- something to damage.

local key, kind, name, way = KEYS[1], ARGV[1], ARGV[2], ARGV[3]

local WAYS = {
    garbage = function() return 'what is this\0\255\n' end,
    first = function() return '!' end, -- sorts before all others
    half = function(old) return string.sub(old, 1, math.floor(#old / 2)) end,
    letters = function(old) return (string.gsub(old, '%d', 'x')) end,
    nines = function(old) return (string.gsub(old, '%d', '9999')) end,
}

if kind == 'key' then
    local was = redis.call('DEL', key)
    if way == 'other' then
        redis.call('SET', key, 'of another type')
    end
    return way == 'other' and 1 or was
end
if kind == 'hash' then
    local field = name ~= '' and name or redis.call('HKEYS', key)[1] or ''
    local old = redis.call('HGET', key, field)
    if not old then -- a lease is alone, or in a batch
        return (string.find(key, ':lease$') or string.find(key, ':batch')) and 1 or 0
    end
    if way == 'gone' then
        return redis.call('HDEL', key, field)
    end
    redis.call('HSET', key, field, WAYS[way](old))
    return 1
end
for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if string.find(member, name, 1, true) then
        local score = redis.call('ZSCORE', key, member)
        redis.call('ZREM', key, member)
        if way ~= 'gone' then
            redis.call('ZADD', key, score, WAYS[way](member))
        end
        return 1
    end
end
return 0
