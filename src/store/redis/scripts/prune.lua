#!lua flags=allow-oom
-- Ended jobs past their retention and records of idempotency keys past their end go.
--
-- KEYS: base and state of the queue. ARGV: now, moments at or before which done and cancelled jobs and dead jobs
-- are past their time, how many done and cancelled ones are kept of each ('' is all), how many at
-- most may go. Answers how many went.
-- parts: base damage record pages join place batch standing ending twins elsewhere sequence arrival

local q = queue_of(KEYS[1])
local now, done_before, dead_before = ARGV[1], ARGV[2], ARGV[3]
local done_max, limit = tonumber(ARGV[4]), tonumber(ARGV[5])
local removed = 0

-- The first of the set are the first to go: as many as are too old or too many, whichever is more.
local function prune_state(set, before, keep)
    local room = limit - removed
    local count = call('ZCOUNT', set, '-inf', before)
    if keep then
        count = math.max(count, call('ZCARD', set) - keep)
    end
    count = math.min(count, room)
    if count > 0 then
        forget(q, call('ZRANGE', set, 0, count - 1))
        call('ZREMRANGEBYRANK', set, 0, count - 1)
        removed = removed + count
    end
end

prune_state(q.done, done_before, done_max)
prune_state(q.dead, dead_before, nil)
prune_state(q.cancelled, done_before, done_max)
local over = call('ZRANGEBYLEX', q.idempotency_expiry, '-', '[' .. now .. '\255', 'LIMIT', 0,
    limit - removed)
for _, member in ipairs(over) do
    local key = sub(member, 19)
    local record = call('HGET', q.idempotency, key)
    if record and not (is_moment(sub(record, 37)) and sub(record, 37) > now) then
        idempotency_forget(q, key, record)
    end
    call('ZREM', q.idempotency_expiry, member)
end
return removed + #over
