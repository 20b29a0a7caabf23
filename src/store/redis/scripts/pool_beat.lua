#!lua flags=allow-oom
-- A pool says that it lives.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: name, now, status (with '=' before it)
-- or nothing. Answers 0 when the pool is not known, otherwise 1, or 2 while somebody watches.

if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
    return 0
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
if ARGV[3] ~= '' then
    redis.call('HSET', KEYS[1], ARGV[1] .. ' status', string.sub(ARGV[3], 2))
end
local watched = redis.call('HGET', KEYS[1], ' watched')
if not watched then
    return 1
elseif watched > ARGV[2] then
    return 2
end
redis.call('HDEL', KEYS[1], ' watched')
return 1
