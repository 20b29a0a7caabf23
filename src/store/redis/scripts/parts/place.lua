-- Where a waiting job stands: a member of one sorted set, all of score 0, which sort as text.
--
--   ready                        priority (1), due (18), seq (16), id (36)
--   scheduled, retry, blocked    due (18), seq (16), id (36), priority (1)

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

-- Whoever makes a job ready has to ring when the script has done all its work.
local function place_add(q, j)
    call('ZADD', q[SET_OF[j.state]], 0, member_of(j))
    if j.state == READY then
        q.rings = true
    end
end

local function place_remove(q, j)
    call('ZREM', q[SET_OF[j.state]], j.member or member_of(j))
end

local function state_when_due(due, now)
    return moment(due) > now and SCHEDULED or READY
end

-- Only who sleeps is rung for: `rung` is there from a ring until somebody looks and finds too little.
local function ring(q)
    if call('HSETNX', q.state, 'rung', '1') == 1 then
        call('PUBLISH', q.bell, q.name)
    end
end
