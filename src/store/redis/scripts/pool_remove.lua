#!lua flags=allow-oom
-- A pool has gone. KEYS: the hash of pools, the sorted set of their beats. ARGV: name. Answers whether it was
-- known.

local name = ARGV[1]
redis.call('HDEL', KEYS[1], name .. ' host', name .. ' pid', name .. ' started_at', name .. ' status',
    name .. ' want', name .. ' wanted_at', name .. ' wanted_by')
return redis.call('ZREM', KEYS[2], name)
