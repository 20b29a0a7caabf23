#!lua flags=allow-oom
-- Jobs that were set aside can be reserved again, in their place.
--
-- KEYS: base and state of the queue. ARGV: why, type, a moment at or before which they were set aside or nothing
-- for the first in line, how many at most. Answers how many.
-- parts: base damage pages place

local q = queue_of(KEYS[1])
local kind, before, limit = ARGV[1] .. ARGV[2] .. ' ', ARGV[3], tonumber(ARGV[4])
local moved = 0

-- What is left of one whose record is damaged, or was taken away, is its place.
local function bring_back(id, place)
    local record = call('HGET', q.aside, id)
    local aside = record and aside_read(id, record)
    if aside then
        place = aside.place
        aside_remove(q, id, aside)
    elseif record then
        note_damage(q, 'aside', id, record)
        call('HDEL', q.aside, id)
    end
    if place then
        call('ZREM', q.aside_due, waiting_member_of(place))
        call('ZADD', q.ready, 0, place)
        moved = moved + 1
    end
end

-- Those that were set aside at or before a moment, the oldest first.
local function bring_back_old(last, most)
    for _, member in ipairs(call('ZRANGEBYLEX', q.aside_age, '[' .. kind, last, 'LIMIT', 0, most)) do
        call('ZREM', q.aside_age, member)
        bring_back(sub(member, #kind + 19), nil)
    end
end

-- When nothing is aside any more, whatever is still in the sets was damaged.
local function sweep()
    if call('HLEN', q.aside) > 0 or call('ZRANGEBYLEX', q.aside_place, '[1', '(3', 'LIMIT', 0, 1)[1] then
        return
    end
    for _, name in ipairs({'aside_place', 'aside_age', 'aside_due'}) do
        for _, member in ipairs(call('ZRANGE', q[name], 0, 999)) do
            note_damage(q, name, member, member)
            call('ZREM', q[name], member)
        end
    end
end

if before == '' then
    for _, member in ipairs(call('ZRANGEBYLEX', q.aside_place, '[' .. kind, '(' .. kind .. '~', 'LIMIT', 0, limit)) do
        local place = sub(member, #kind + 1)
        call('ZREM', q.aside_place, member)
        if #place == PLACE_LENGTH and call('HEXISTS', q.job, sub(place, 36)) == 1 then
            bring_back(sub(place, 36), place)
        else
            note_damage(q, 'aside_place', member, member)
        end
    end
    -- Who is still there has lost its place there.
    if moved < limit then
        bring_back_old('(' .. kind .. '~', limit - moved)
    end
else
    bring_back_old('[' .. kind .. before .. '~', limit)
end
if moved < limit then
    sweep()
end
if moved > 0 then
    ring(q)
end
return moved
