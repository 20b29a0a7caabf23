-- The two jobs that may share a key: one that waits, one that runs. The hash `keyed` has their ids,
-- the waiting one first; NO_ID stands for none. The rules are those of src/job/keyed.c.

local function twins_load(q, key)
    local pair = call('HGET', q.keyed, key)
    local waiting, running = NO_ID, NO_ID
    if pair and #pair == 72 then
        waiting, running = sub(pair, 1, 36), sub(pair, 37)
    elseif pair then
        note_damage(q, 'keyed', key, pair)
    end
    return waiting ~= NO_ID and waiting or nil, running ~= NO_ID and running or nil
end

local function twins_store(q, key, waiting, running)
    if waiting or running then
        call('HSET', q.keyed, key, (waiting or NO_ID) .. (running or NO_ID))
    else
        call('HDEL', q.keyed, key)
    end
end

-- The jobs themselves, as far as they are what the key says of them: what is damaged holds up nobody.
local function twins_find(q, key)
    local waiting, running = twins_load(q, key)
    local waiter, runner = waiting and standing(q, waiting), running and standing(q, running)
    if waiter and (waiter.broken or waiter.ended_at or waiter.state == RUNNING) then
        waiter = nil
    end
    if runner and runner.state ~= RUNNING then
        runner = nil
    end
    return waiter or nil, runner or nil
end

-- Flags in three bits and two: payload 1, retry 2, reset_counts 4, run_at 8 and 16.
local function flag(flags, bit_value)
    return math.floor(flags / bit_value) % 2 == 1
end

local function takes_run_at(flags, waiting_due, newcomer_due)
    local when = math.floor(flags / 8) % 4
    if when == 0 then
        return true
    elseif when == 1 then
        return false
    elseif when == 2 then
        return moment(newcomer_due) < moment(waiting_due)
    end
    return moment(newcomer_due) > moment(waiting_due)
end

local function flags_join(first, second)
    local joined = 0
    for _, value in ipairs({1, 2, 4}) do
        if flag(first, value) or flag(second, value) then
            joined = joined + value
        end
    end
    local first_when, second_when = math.floor(first / 8) % 4, math.floor(second / 8) % 4
    if first_when == 0 or second_when == 1 then
        return joined + 8 * first_when
    end
    return joined + 8 * second_when
end

local function payload_take(q, into, from)
    if from.outside then
        call('HSET', q.payload, into.id, from.long_payload or call('HGET', q.payload, from.id))
    elseif into.outside then
        call('HDEL', q.payload, into.id)
    end
    extras.leave_tags(q, into)
    into.encoding, into.payload, into.outside = from.encoding, from.payload, from.outside
    extras.enter_tags(q, into)
end

-- Changes the fields of `waiting`, not its place; true when its due was set anew.
local function merge(q, waiting, newcomer, flags)
    if flag(flags, 1) then
        waiting.priority = newcomer.priority
        payload_take(q, waiting, newcomer)
    end
    local moved = takes_run_at(flags, waiting.due, newcomer.due)
    if moved then
        waiting.run_at, waiting.due = newcomer.run_at, newcomer.due
    end
    if flag(flags, 2) then
        waiting.max_attempts, waiting.max_stalls = newcomer.max_attempts, newcomer.max_stalls
        waiting.timeout = newcomer.timeout
    end
    if flag(flags, 4) then
        waiting.attempts, waiting.stalls = '0', '0'
    end
    return moved
end

-- Who waits for the end of the one that runs.
local function blocked_of(q, key)
    local waiting = twins_load(q, key)
    local blocked = waiting and standing(q, waiting)
    return blocked and not blocked.ended_at and blocked.state ~= RUNNING and blocked or nil
end

local function unblock(q, blocked, now)
    place_remove(q, blocked)
    blocked.state, blocked.member = state_when_due(blocked.due, now), nil
    place_add(q, blocked)
end

-- It runs no more and does not return: its blocked twin is ready or scheduled now.
local function twins_running_ended(q, j, now)
    if j.key == '' then
        return
    end
    local blocked = blocked_of(q, j.key)
    twins_store(q, j.key, blocked and blocked.id, nil)
    if blocked then
        unblock(q, blocked, now)
    end
end

-- It returns to waiting: its blocked twin is merged into it and ends as cancelled.
local function twins_running_returns(q, j, now)
    if j.key == '' then
        return false
    end
    local blocked = blocked_of(q, j.key)
    local moved = false
    if blocked and blocked.broken then
        unblock(q, blocked, now) -- there is nothing to be merged: it comes to its end by itself
    elseif blocked then
        moved = merge(q, j, blocked, tonumber(blocked.flags))
        j.flags = blocked.flags
        place_remove(q, blocked)
        ending_write(q, blocked, CANCELLED, '-1', nil, j.id, tonumber(now))
    end
    twins_store(q, j.key, j.id, nil)
    return moved
end

local function twins_waiting_left(q, j)
    if j.key ~= '' then
        local _, running = twins_load(q, j.key)
        twins_store(q, j.key, nil, running)
    end
end
