#!lua flags=allow-oom
-- Settles, then reserves: all that a dispatcher does under load. It works also when memory is short, so
-- that jobs can come to their end.
--
-- KEYS: base and state of the queue.
-- ARGV: now, whether that follows this server's clock, number of settlements, those (settle.lua); and if jobs are
-- wanted: how many, end of the leases (or two numbers: how long one is of a job that may run for ever, when each is as
-- long as its job may run, and how much longer all of them are), batch token, index of the first in the batch, from how many plain ones on they
-- get a lease together, pool, max_running, rate's count and period, the ready member to start behind, then the types
-- that are wanted.
-- Answers verdicts, is_full, limited_until, the member to go on behind when not all of the queue was
-- looked at, the jobs' ready members, and their records.
-- parts: few base damage record pages join place batch standing ending twins leaving elsewhere sequence arrival settle expiry reclaim limits page_order reserve

local RECLAIM_MOST = 1000

local q = queue_of(KEYS[1])
local now = ARGV[1]
local over = over_at(now, ARGV[2]) -- what is settled or taken back is so by this
local verdicts, at = settle_all(q, 4, tonumber(ARGV[3]), over)

local function finish()
    announce_vacancy(q)
    if q.rings and pages.count(q, 'ready') > 0 then
        ring(q)
    end
end

-- Its own function: a script can have no more than 200 names.
local function give_out(wanted)
    local state = call('HMGET', q.state, 'paused_at', 'spent_until', 'rung', 'next_expiry')
    if state[4] and (state[4] <= over or not is_moment(state[4])) then
        reclaim(q, over, RECLAIM_MOST)
    end
    local paused, spent_until, rung = state[1], tonumber(state[2] or '0') or 0, state[3]
    local moment_now = tonumber(now)
    local rate = wanted.rate_count > 0 and rate_of(wanted.rate_count, wanted.rate_period)
    local running_room, rate_room = math.huge, math.huge
    if wanted.max_running > 0 then
        running_room = math.max(wanted.max_running - call('HLEN', q.lease) - batch.count_open(q), 0)
    end
    if rate then
        rate_room = rate_allows(rate, spent_until, moment_now)
    end
    local room = paused and 0 or math.min(wanted.max, running_room, rate_room)
    local taken, failure = reserve(q, room, wanted, text_of(moment_now))
    if not taken then
        return failed(failure)
    end

    local count = #taken.ids
    local is_full, limited_until = 0, '0'
    if rate and count > 0 then
        spent_until = rate_spend(rate, spent_until, moment_now, count)
        call('HSET', q.state, 'spent_until', text_of(spent_until))
        rate_room = rate_room - count
    end
    running_room = running_room - count
    if running_room == 0 then
        q.left = false
    end
    if not paused and count < wanted.max and (running_room == 0 or rate_room == 0)
        and pages.count(q, 'ready') > 0 then
        if running_room == 0 then
            is_full = 1
            call('HSET', q.state, 'awaited', '1')
        end
        if rate_room == 0 then
            limited_until = text_of(rate_next(rate, spent_until, moment_now))
        end
    end

    -- Whoever finds too little may go to sleep: the next job rings.
    if count < wanted.max and rung then
        call('HDEL', q.state, 'rung')
    end
    finish()
    return {verdicts, is_full, limited_until, count < room and taken.looked_to or '', taken.members, taken.records}
end

if not ARGV[at] then
    finish()
    return {verdicts}
end
return give_out(wanted_read(at))
