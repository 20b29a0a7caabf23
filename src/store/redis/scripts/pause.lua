#!lua flags=allow-oom
-- Nothing is reserved from a paused queue.
--
-- KEYS: base and state of the queue. ARGV: when it was paused (0 resumes), by whom.
-- parts: base

local q = queue_of(KEYS[1])

if ARGV[1] == '0' then
    call('HDEL', q.state, 'paused_at', 'paused_by')
    ring(q)
elseif call('HSETNX', q.state, 'paused_at', ARGV[1]) == 1 then
    call('HSET', q.state, 'paused_by', ARGV[2])
end
return 1
