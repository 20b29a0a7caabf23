#!lua flags=allow-oom
-- Jobs that have been aside for too long are dead.
--
-- KEYS: base and state of the queue. ARGV: now, why, type, the moment at or before which they were set aside, how
-- many at most, the reason, and what is said where nobody has said more. Answers how many.
-- parts: base damage record pages place batch standing ending twins

local q = queue_of(KEYS[1])
local now, kind, before, limit = ARGV[1], ARGV[2] .. ARGV[3] .. ' ', ARGV[4], ARGV[5]
local reason, epitaph = ARGV[6], ARGV[7]
local ended = 0

local function give_up(j)
    local key, told = q.detail .. j.id, j.aside.error ~= '' and j.aside.error or epitaph
    place_remove(q, j)
    ending_write(q, j, DEAD, '-1', nil, nil, tonumber(now))
    twins_waiting_left(q, j)
    write_to(q, 'HDEL', key, 'exit_code', 'signal')
    call('HSET', key, 'last_error', told, 'failed_at', text_of(tonumber(now)), 'reason', reason)
    call('ZADD', q.failed, tonumber(now), j.id)
    ended = ended + 1
end

-- Also of one whose own record was taken away or written over.
local function aside_of(j, member)
    if j.aside or j.ended_at or j.state == RUNNING then
        return j.aside
    end
    local place = ready_member(j)
    return call('ZSCORE', q.aside_place, kind .. place)
        and {why = ARGV[2], since = sub(member, #kind + 1, #kind + 18), type = ARGV[3], place = place, error = ''}
end

for _, member in ipairs(call('ZRANGEBYLEX', q.aside_age, '[' .. kind, '[' .. kind .. before .. '~', 'LIMIT', 0, limit)) do
    local j = standing(q, sub(member, #kind + 19))
    call('ZREM', q.aside_age, member)
    if j then
        j.aside = aside_of(j, member)
    end
    if j and j.aside then
        give_up(j)
    end
end
return ended
