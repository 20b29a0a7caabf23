#!lua flags=allow-oom
-- A pool says that it lives.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: name, now, status (with '=' before it)
-- or nothing. Answers 0 when the pool is not known, otherwise 1, or 2 while somebody watches; then what somebody wants
-- of it, and since when.

local name, now = ARGV[1], ARGV[2]
if not redis.call('ZSCORE', KEYS[2], name) then
    return {0, '0', '0'}
end
redis.call('ZADD', KEYS[2], now, name)
if ARGV[3] ~= '' then
    redis.call('HSET', KEYS[1], name .. ' status', string.sub(ARGV[3], 2))
end
local found = redis.call('HMGET', KEYS[1], ' watched', name .. ' want', name .. ' wanted_at')
local is_watched = found[1] and found[1] > now
if found[1] and not is_watched then
    redis.call('HDEL', KEYS[1], ' watched')
end
return {is_watched and 2 or 1, found[2] or '0', found[3] or '0'}
