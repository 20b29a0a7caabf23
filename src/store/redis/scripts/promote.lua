#!lua flags=allow-oom
-- Due jobs of one state become ready.
--
-- KEYS: base and state of the queue. ARGV: now, scheduled or retry, how many at most. Answers how many were moved
-- and the due of the next one, or 0.
-- parts: base damage pages place

local LAST_SEEN = 10

local q = queue_of(KEYS[1])
local now, set = ARGV[1], q[ARGV[2]]
local due = call('ZRANGEBYLEX', set, '-', '[' .. now .. '~', 'LIMIT', 0, ARGV[3])
local ready = {}

for _, member in ipairs(due) do
    if #member == PLACE_LENGTH then
        ready[#ready + 1] = sub(member, 71) .. sub(member, 1, 70)
    else
        note_damage(q, ARGV[2], member, member)
    end
end
pages.add(q, 'ready', ready)
each_2000('ZREM', set, due)
if #ready > 0 then
    ring(q)
end
-- What sorts behind every moment is none, and would never be met.
for _, last in ipairs(call('ZREVRANGE', set, 0, LAST_SEEN - 1)) do
    if #last == PLACE_LENGTH and is_moment(sub(last, 1, 18)) then
        break
    end
    call('ZREM', set, last)
    note_damage(q, ARGV[2], last, last)
end
local next_one = call('ZRANGE', set, 0, 0)[1]
return {#due, next_one and sub(next_one, 1, 18) or '0'}
