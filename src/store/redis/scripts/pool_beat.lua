#!lua flags=allow-oom
-- A pool says that it lives.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: name, now, status (with '=' before it)
-- or nothing. Answers whether the pool is known.

if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
    return 0
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
if ARGV[3] ~= '' then
    redis.call('HSET', KEYS[1], ARGV[1] .. ' status', string.sub(ARGV[3], 2))
end
return 1
