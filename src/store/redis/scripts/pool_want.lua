#!lua flags=allow-oom
-- Somebody wants something of a pool.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: name, what, now, who or nothing. Answers whether it is known.

local name, who = ARGV[1], ARGV[4]
if not redis.call('ZSCORE', KEYS[2], name) then
    return 0
end
redis.call('HSET', KEYS[1], name .. ' want', ARGV[2], name .. ' wanted_at', ARGV[3])
if who == '' then
    redis.call('HDEL', KEYS[1], name .. ' wanted_by')
else
    redis.call('HSET', KEYS[1], name .. ' wanted_by', who)
end
return 1
