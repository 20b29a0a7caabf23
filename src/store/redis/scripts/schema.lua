#!lua flags=allow-oom
-- The version of the layout; made when there is none yet and it is asked for. It works also when memory is
-- short: whoever wants to look, or to remove something, starts with it.
--
-- KEYS: the hash of the layout's version. ARGV: '1' to make or raise it, version, usable_from. Answers both
-- as they are then; 0 when there is none.

local stored = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if ARGV[1] == '1' and stored < tonumber(ARGV[2]) then
    redis.call('HSET', KEYS[1], 'version', ARGV[2], 'usable_from', ARGV[3])
end
return {
    tonumber(redis.call('HGET', KEYS[1], 'version') or '0'),
    tonumber(redis.call('HGET', KEYS[1], 'usable_from') or '0'),
}
