#!lua flags=allow-oom
-- Due jobs of one state become ready.
--
-- KEYS: base and state of the queue. ARGV: now, scheduled or retry, how many at most. Answers how many were moved
-- and the due of the next one, or 0.
-- parts: base place

local q = queue_of(KEYS[1])
local now, set = ARGV[1], q[ARGV[2]]
local due = call('ZRANGEBYLEX', set, '-', '[' .. now .. '~', 'LIMIT', 0, ARGV[3])
local ready = {}

for _, member in ipairs(due) do
    ready[#ready + 1] = 0
    ready[#ready + 1] = sub(member, 71) .. sub(member, 1, 70)
end
each_2000('ZREM', set, due)
each_2000('ZADD', q.ready, ready)
if #due > 0 then
    ring(q)
end
local next_one = call('ZRANGE', set, 0, 0)[1]
return {#due, next_one and sub(next_one, 1, 18) or '0'}
