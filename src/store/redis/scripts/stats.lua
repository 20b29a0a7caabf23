#!lua flags=no-writes
-- How many jobs of each state the queue has.
--
-- KEYS: base and state of the queue. Answers paused_at, paused_by, spent_until, done_total, failed_total, the
-- earliest due of its ready jobs, then the number of jobs of each state in the order of their numbers, then how
-- many of the ready ones are aside for each reason; nothing for a queue that is hidden.
-- parts: base record pages page_order batch

local q = queue_of(KEYS[1])
local state = call('HMGET', q.state, 'paused_at', 'done_total', 'failed_total', 'paused_by', 'spent_until',
    'hidden_totals')
local oldest = nil

for priority = 0, 9 do
    local first = pages.range(q, 'ready', '[' .. priority, '(' .. priority .. '~', 1, true)[1]
    local due = first and sub(first, 2, 19)
    if due and (not oldest or due < oldest) then
        oldest = due
    end
end
local aside = call('ZRANGE', q.aside_due, 0, 0)[1]
if aside and (not oldest or sub(aside, 1, 18) < oldest) then
    oldest = sub(aside, 1, 18)
end
-- What says nothing any more about when it was paused still pauses it.
local paused = state[1] and (tonumber(state[1]) and state[1] or '1')

local jobs = {
    call('ZCARD', q.scheduled), pages.count(q, 'ready') + call('ZCARD', q.aside_due), call('ZCARD', q.blocked),
    call('HLEN', q.lease) + batch.count_open(q), call('ZCARD', q.retry), call('ZCARD', q.done), call('ZCARD', q.dead),
    call('ZCARD', q.cancelled), call('ZLEXCOUNT', q.aside_age, '[1', '(2'),
    call('ZLEXCOUNT', q.aside_age, '[2', '(3'),
}
local count = 0

for _, number in ipairs(jobs) do
    count = count + number
end
-- Since it was hidden nothing has come, or all of it has gone.
local totals = (tonumber(state[2]) or 0) + (tonumber(state[3]) or 0)
if count == 0 and state[6] and tonumber(state[6]) == totals then
    return {}
end
return {
    paused or '0', state[4] or '', state[5] or '0', state[2] or '0', state[3] or '0', oldest or '0', unpack(jobs),
}
