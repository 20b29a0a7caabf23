#!lua flags=allow-oom
-- Looks how much a queue may have to give, before it is asked.
--
-- KEYS: base and state of the queue. ARGV: now. Answers how many jobs: some of them may be passed over, and others may
-- be faster. 0 is none, and as good as having asked: the next job rings.

local RECLAIM_MOST = 1000 -- as in exchange.lua

local base, key, now = KEYS[1], KEYS[2], ARGV[1]
local state = redis.call('HMGET', key, 'paused_at', 'rung', 'next_expiry')
local paused, rung, expiry = state[1], state[2], state[3]
local count = redis.call('ZCARD', base .. 'ready') + :REDIS_PAGE * redis.call('ZCARD', base .. 'ready_pages')

if expiry and (#expiry ~= 18 or expiry <= now) then
    count = count + RECLAIM_MOST
end
if paused then
    count = 0
end
if count == 0 and rung then
    redis.call('HDEL', key, 'rung')
end
return count
