#!lua flags=allow-oom
-- An empty queue is in no list until its next job comes; a pause of it ends.
--
-- KEYS: base and state of the queue. Answers a verdict.
-- parts: base

local q = queue_of(KEYS[1])

for _, set in ipairs({'scheduled', 'ready', 'ready_pages', 'aside_due', 'blocked', 'retry', 'done', 'dead', 'cancelled'}) do
    if call('ZCARD', q[set]) > 0 then
        return CONFLICT
    end
end
if call('HLEN', q.lease) > 0 or call('HLEN', q.batch) > 0 then
    return CONFLICT
end
local totals = call('HMGET', q.state, 'done_total', 'failed_total')
call('HDEL', q.state, 'paused_at', 'paused_by')
call('HSET', q.state, 'hidden_totals', text_of((tonumber(totals[1]) or 0) + (tonumber(totals[2]) or 0)))
return OK
