#!lua flags=allow-oom
-- Pools by name; those that have been silent for long can be removed on the way.
--
-- KEYS: the hash of pools, the sorted set of their beats. ARGV: nothing for all, or the moment since which
-- a pool was silent; '1' to remove them. Answers nine for each: name, host, pid, started_at, beat_at,
-- status with '=' before it, what somebody wants of it, since when, and who.

local beats
if ARGV[1] == '' then
    beats = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
else
    beats = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[1], 'WITHSCORES')
end

local answer = {}
for i = 1, #beats, 2 do
    local name, beat = beats[i], string.format('%.0f', beats[i + 1])
    local fields = {name .. ' host', name .. ' pid', name .. ' started_at', name .. ' status', name .. ' want',
        name .. ' wanted_at', name .. ' wanted_by'}
    local found = redis.call('HMGET', KEYS[1], unpack(fields))
    for _, value in ipairs({name, found[1] or '', found[2] or '0', found[3] or '0', beat,
        found[4] and '=' .. found[4] or '', found[5] or '0', found[6] or '0', found[7] or ''}) do
        answer[#answer + 1] = value
    end
    if ARGV[2] == '1' then
        redis.call('ZREM', KEYS[2], name)
        redis.call('HDEL', KEYS[1], unpack(fields))
    end
end
return answer
