#!lua flags=allow-oom
-- Nothing is reserved from a paused queue.
--
-- KEYS: base and state of the queue. ARGV: when it was paused; 0 resumes.
-- parts: base place

local q = queue_of(KEYS[1])

if ARGV[1] == '0' then
    call('HDEL', q.state, 'paused_at')
    ring(q)
else
    call('HSETNX', q.state, 'paused_at', ARGV[1])
end
return 1
