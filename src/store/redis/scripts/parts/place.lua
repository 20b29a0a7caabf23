-- Where a waiting job stands: a member of one sorted set, all of score 0, which sort as text.
--
--   ready                        priority (1), due (18), seq (16), id (36); or in a page: pages.lua
--   scheduled, retry, blocked    due (18), seq (16), id (36), priority (1)
--
-- A ready job that nobody can run now is not in `ready` but aside, in four keys:
--
--   aside          hash, by id: why (1) and since (18), its place in `ready`, type, error
--   aside_place    why, type, a space, its place in `ready`: to bring them back in their order
--   aside_age      why, type, a space, since (18), id (36): which have waited too long
--   aside_due      as in scheduled: for people

local PLACE_LENGTH = 71

local function ready_member(j)
    return j.priority .. moment(j.due) .. pad(j.seq, 16) .. j.id
end

local function waiting_member(j)
    return moment(j.due) .. pad(j.seq, 16) .. j.id .. j.priority
end

local function member_of(j)
    return j.state == READY and ready_member(j) or waiting_member(j)
end

-- Where a ready member's job would stand among the others.
local function waiting_member_of(place)
    return sub(place, 2) .. sub(place, 1, 1)
end

-- What is known of a job that is aside; nil when it cannot be read.
local function aside_read(id, record)
    local why, since, place, type_name, at = match(record, '^([12])(%d+) (%S+) (%S*) ()')
    if why and #since == 18 and #place == PLACE_LENGTH and sub(place, 36) == id then
        return {why = why, since = since, place = place, type = type_name, error = sub(record, at)}
    end
end

local function aside_kind(why, type_name)
    return why .. type_name .. ' '
end

local function aside_add(q, j)
    local a, place = j.aside, ready_member(j)
    local kind = aside_kind(a.why, j.type)
    call('HSET', q.aside, j.id, table.concat({a.why .. a.since, place, j.type, a.error or ''}, ' '))
    call('ZADD', q.aside_place, 0, kind .. place)
    call('ZADD', q.aside_age, 0, kind .. a.since .. j.id)
    call('ZADD', q.aside_due, 0, waiting_member_of(place))
end

local function aside_remove(q, id, a)
    local kind = aside_kind(a.why, a.type)
    call('ZREM', q.aside_place, kind .. a.place)
    call('ZREM', q.aside_age, kind .. a.since .. id)
    call('ZREM', q.aside_due, waiting_member_of(a.place))
    call('HDEL', q.aside, id)
end

-- Whoever makes a job ready has to ring when the script has done all its work.
local function place_add(q, j)
    if j.aside then
        aside_add(q, j)
        return
    end
    call('ZADD', q[SET_OF[j.state]], 0, member_of(j))
    if j.state == READY then
        q.rings = true
    end
end

local function place_remove(q, j)
    if j.aside then
        aside_remove(q, j.id, j.aside)
        return
    end
    local member = j.member or member_of(j)
    if j.state == READY then
        pages.remove(q, 'ready', {member})
    else
        call('ZREM', q[SET_OF[j.state]], member)
    end
end

local function state_when_due(due, now)
    return moment(due) > now and SCHEDULED or READY
end
