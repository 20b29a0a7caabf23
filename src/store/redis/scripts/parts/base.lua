-- What every script starts with: the keys of a queue, and numbers as text.
--
-- Lua's numbers are doubles and print as 1.89e+15: moments and counts are kept as decimal text and
-- compared as text of one width. Arithmetic is done only on what is near the present, which a double
-- holds exactly.

local call = redis.call
local format, sub, match, find = string.format, string.sub, string.match, string.find

-- States, and the set that holds the jobs of each.
local SCHEDULED, READY, BLOCKED, RUNNING, RETRY, DONE, DEAD, CANCELLED = ':JOB_SCHEDULED', ':JOB_READY', ':JOB_BLOCKED',
    ':JOB_RUNNING', ':JOB_RETRY', ':JOB_DONE', ':JOB_DEAD', ':JOB_CANCELLED'
local SET_OF = {
    [SCHEDULED] = 'scheduled', [READY] = 'ready', [BLOCKED] = 'blocked', [RETRY] = 'retry',
    [DONE] = 'done', [DEAD] = 'dead', [CANCELLED] = 'cancelled',
}

-- Kinds of settlement.
local ACK, TRY_AGAIN, FAIL, RELEASE, SNOOZE, CANCEL, ASIDE = ':SETTLE_ACK', ':SETTLE_RETRY', ':SETTLE_FAIL',
    ':SETTLE_RELEASE', ':SETTLE_SNOOZE', ':SETTLE_CANCEL', ':SETTLE_ASIDE'

-- How verdicts are answered, one character each.
local OK, NOT_FOUND, NOT_RUNNING, EXPIRED, MISMATCH, CONFLICT = :REDIS_SAYS_OK, :REDIS_SAYS_NOT_FOUND,
    :REDIS_SAYS_NOT_RUNNING, :REDIS_SAYS_EXPIRED, :REDIS_SAYS_MISMATCH, :REDIS_SAYS_CONFLICT

-- `base` is th:{mail}: - everything of a queue has the same hash tag and so lies in one slot.
--
-- A script is told two keys: the base, which never exists, and `state`, which exists from the queue's first
-- job on. While a slot moves from node to node its keys are partly here and partly there, and a script
-- that found that out half-way would be left half-done. A node that is asked for two keys of such a
-- slot and has not both answers TRYAGAIN: so a queue stands still while its slot moves.
--
-- A key gets its name when it is asked for: no script needs all of them.
local function queue_of(base)
    local prefix, name = match(base, '^(.-):{(.*)}:$')
    local q = {
        base = base, name = name, bell = prefix .. ':bell', queues = prefix .. ':queues',
        detail = base .. 'detail:', runs = base .. 'runs:',
        batches = {}, -- those that were read
    }
    local names = ' state job payload ids ids_pages ready ready_pages scheduled blocked retry lease batch batch_ids'
        .. ' aside aside_place aside_age aside_due ended done dead cancelled failed keyed idempotency idempotency_expiry'
        .. ' idempotency_ids cron watch readers tags damaged damage_news '
    return setmetatable(q, {__index = function(_, key)
        if find(names, ' ' .. key .. ' ', 1, true) then
            q[key] = base .. key
            return q[key]
        end
    end})
end

local function text_of(number)
    return format('%.0f', number)
end

local function pad(digits, width)
    return sub('000000000000000000', 19 - width + #digits) .. digits
end

-- A moment as text that sorts: 18 digits reach to the year 9999.
local function moment(digits)
    return pad(digits, 18)
end

-- Leases that end by this moment are over. Who follows this server's clock is asked to agree with it: one
-- who has not seen yet that it was set back would take what somebody else has just been given.
local function over_at(now, clocked)
    if clocked ~= '1' then
        return now
    end
    local clock = call('TIME')
    local here = moment(clock[1] .. pad(clock[2], 6))
    return here < now and here or now
end

local function is_moment(text)
    return text and #text == 18 and not find(text, '%D')
end

local function is_id(text)
    return #text == 36 and match(text, '^%x+%-%x+%-%x+%-%x+%-%x+$') ~= nil
end

-- What looks like an id in a text that is damaged.
local function ids_in(text)
    local hex = '%x%x%x%x'
    return string.gmatch(text, table.concat({hex .. hex, hex, hex, hex, hex .. hex .. hex}, '%-'))
end

-- One command on any number of arguments. Lua can hand over some 8000 at once.
local function each_2000(command, key, list)
    for first = 1, #list, 2000 do
        call(command, key, unpack(list, first, math.min(first + 1999, #list)))
    end
end

-- Only who sleeps is rung for: `rung` is there from a ring until somebody looks and finds too little.
local function ring(q)
    if call('HSETNX', q.state, 'rung', '1') == 1 then
        call('PUBLISH', q.bell, q.name)
    end
end
