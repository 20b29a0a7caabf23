#!lua flags=allow-oom
-- A pool says who it is. Nothing is wanted of it yet.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: name, host, pid, started_at, now, status (with
-- '=' before it) or nothing.

local name = ARGV[1]
redis.call('HSET', KEYS[1], name .. ' host', ARGV[2], name .. ' pid', ARGV[3],
    name .. ' started_at', ARGV[4])
if ARGV[6] ~= '' then
    redis.call('HSET', KEYS[1], name .. ' status', string.sub(ARGV[6], 2))
else
    redis.call('HDEL', KEYS[1], name .. ' status')
end
redis.call('HDEL', KEYS[1], name .. ' want', name .. ' wanted_at', name .. ' wanted_by')
redis.call('ZADD', KEYS[2], ARGV[5], name)
return 1
