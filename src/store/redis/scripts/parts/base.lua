-- What every script starts with: the keys of a queue, and numbers as text.
--
-- Lua's numbers are doubles and print as 1.89e+15: moments and counts are kept as decimal text and
-- compared as text of one width. Arithmetic is done only on what is near the present, which a double
-- holds exactly.

local call = redis.call
local format, sub, match = string.format, string.sub, string.match

-- States as in src/job/state.h, and the set that holds the jobs of each.
local SCHEDULED, READY, BLOCKED, RUNNING, RETRY, DONE, DEAD, CANCELLED =
    '0', '1', '2', '3', '4', '5', '6', '7'
local SET_OF = {
    ['0'] = 'scheduled', ['1'] = 'ready', ['2'] = 'blocked', ['4'] = 'retry',
    ['5'] = 'done', ['6'] = 'dead', ['7'] = 'cancelled',
}

-- Kinds of settlement as in src/job/settlement.h.
local ACK, TRY_AGAIN, FAIL, RELEASE, SNOOZE, CANCEL, ASIDE = '0', '1', '2', '3', '4', '5', '6'

-- How verdicts are answered, one character each.
local OK, NOT_FOUND, NOT_RUNNING, EXPIRED, MISMATCH, CONFLICT = 'o', 'f', 'r', 'x', 'm', 'c'

-- `base` is th:{mail}: - everything of a queue has the same hash tag and so lies in one slot.
--
-- A script is told two keys: the base, which never exists, and `state`, which exists from the queue's first
-- job on. While a slot moves from node to node its keys are partly here and partly there, and a script
-- that found that out half-way would be left half-done. A node that is asked for two keys of such a
-- slot and has not both answers TRYAGAIN: so a queue stands still while its slot moves.
local function queue_of(base)
    local prefix, name = match(base, '^(.-):{(.*)}:$')
    return {
        base = base, name = name, bell = prefix .. ':bell', queues = prefix .. ':queues',
        state = base .. 'state', job = base .. 'job', payload = base .. 'payload', ids = base .. 'ids',
        ready = base .. 'ready', scheduled = base .. 'scheduled', blocked = base .. 'blocked',
        retry = base .. 'retry', lease = base .. 'lease', batch = base .. 'batch', batch_ids = base .. 'batch_ids',
        batches = {}, -- those that were read
        aside = base .. 'aside', aside_place = base .. 'aside_place', aside_age = base .. 'aside_age',
        aside_due = base .. 'aside_due',
        ended = base .. 'ended', done = base .. 'done', dead = base .. 'dead',
        cancelled = base .. 'cancelled', failed = base .. 'failed', keyed = base .. 'keyed',
        idempotency = base .. 'idempotency', idempotency_expiry = base .. 'idempotency_expiry',
        idempotency_ids = base .. 'idempotency_ids', cron = base .. 'cron',
        detail = base .. 'detail:', runs = base .. 'runs:', watch = base .. 'watch',
        readers = base .. 'readers',
        damaged = base .. 'damaged', damage_news = base .. 'damage_news',
    }
end

local function text_of(number)
    return format('%.0f', number)
end

local function pad(digits, width)
    return string.rep('0', width - #digits) .. digits
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
    return text and #text == 18 and not string.find(text, '%D')
end

local function is_id(text)
    return #text == 36 and match(text, '^%x+%-%x+%-%x+%-%x+%-%x+$') ~= nil
end

-- One command on any number of arguments. Lua can hand over some 8000 at once.
local function each_2000(command, key, list)
    for first = 1, #list, 2000 do
        call(command, key, unpack(list, first, math.min(first + 1999, #list)))
    end
end
