#!lua flags=no-writes
-- How many jobs of each state the queue has.
--
-- KEYS: base and state of the queue. Answers paused_at, done_total, failed_total, the earliest due of its ready
-- jobs, then the number of jobs of each state in the order of their numbers.
-- parts: base

local q = queue_of(KEYS[1])
local state = call('HMGET', q.state, 'paused_at', 'done_total', 'failed_total')
local oldest = nil

for priority = 0, 9 do
    local first = call('ZRANGEBYLEX', q.ready, '[' .. priority, '(' .. priority .. '~', 'LIMIT', 0, 1)[1]
    local due = first and sub(first, 2, 19)
    if due and (not oldest or due < oldest) then
        oldest = due
    end
end
-- What says nothing any more about when it was paused still pauses it.
local paused = state[1] and (tonumber(state[1]) and state[1] or '1')

return {
    paused or '0', state[2] or '0', state[3] or '0', oldest or '0',
    call('ZCARD', q.scheduled), call('ZCARD', q.ready), call('ZCARD', q.blocked),
    call('HLEN', q.lease), call('ZCARD', q.retry), call('ZCARD', q.done), call('ZCARD', q.dead),
    call('ZCARD', q.cancelled),
}
