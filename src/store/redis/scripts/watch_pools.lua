#!lua flags=allow-oom
-- Somebody looks at the pools, until then.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: until.

local before = redis.call('HGET', KEYS[1], ' watched')
if not (before and before >= ARGV[1]) then
    redis.call('HSET', KEYS[1], ' watched', ARGV[1])
end
return 1
