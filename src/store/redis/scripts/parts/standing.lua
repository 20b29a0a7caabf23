-- All that a change of state needs to know of a stored job: nil when there is none.

-- Whose record cannot be read has a place that nobody can tell from it. It is looked for, not for long:
-- what is not found goes to the end with its record when its turn comes.
local SEARCH_PAGE, SEARCH_MOST = 10000, 10

local function search_place(q, j)
    for _, place in ipairs({{'ready', READY}, {'ready_pages', READY}, {'scheduled', SCHEDULED}, {'retry', RETRY},
        {'blocked', BLOCKED}}) do
        local name, state = place[1], place[2]
        local cursor, looks = '0', 0
        repeat
            local found = call('ZSCAN', q[name], cursor, 'MATCH', '*' .. j.id .. '*', 'COUNT', SEARCH_PAGE)
            local member = found[2][1]
            if member then
                local at = name == 'ready_pages' and find(member, j.id, 1, true)
                j.member = at and sub(member, at + 36 - PLACE_LENGTH, at + 35) or member
                return state
            end
            cursor, looks = found[1], looks + 1
        until cursor == '0' or looks == SEARCH_MOST
    end
end

-- Nil when it is in none of the places where it would wait.
local function waiting_state(q, j)
    local record = call('HGET', q.aside, j.id)
    j.aside = record and aside_read(j.id, record)
    if j.aside then
        return READY
    end
    if j.broken then
        return nil
    end
    if pages.has(q, 'ready', ready_member(j)) then
        return READY
    end
    local member = waiting_member(j)
    for _, state in ipairs({SCHEDULED, RETRY, BLOCKED}) do
        if call('ZSCORE', q[SET_OF[state]], member) then
            return state
        end
    end
end

-- The sets still know when it ended, and how.
local function end_guess(q, j, ended)
    j.damaged_end, j.state, j.ended_at, j.executions = ended, DEAD, '0', j.executions or '0'
    for _, state in ipairs({DONE, DEAD, CANCELLED}) do
        local score = call('ZSCORE', q[SET_OF[state]], j.id)
        if score then
            j.state, j.ended_at = state, text_of(tonumber(score))
        end
    end
end

-- Whoever knows the token of its lease says it, and is served sooner.
local function standing(q, id, token)
    local record = call('HGET', q.job, id)
    if not record then
        return nil
    end
    local j = job_parse(id, record)
    j.worker, j.started_at, j.cancel_requested_at, j.pool, j.ended_by = '0', '0', '0', '', '-1'
    local lease = call('HGET', q.lease, id)
    if lease then
        lease_read(j, lease)
        return j
    end
    local b, place
    if token then
        b, place = batch.find(q, token, id)
    end
    if b then
        batch.lend(j, b, place)
        return j
    end
    local ended = call('HGET', q.ended, id)
    if ended then
        if not end_read(j, ended) then
            end_guess(q, j, ended)
        end
        return j
    end
    j.state = waiting_state(q, j)
    if j.state then
        return j
    end
    if j.broken or j.executions == '0' and j.key == '' then
        b, place = batch.search(q, id)
    end
    if b then
        batch.lend(j, b, place)
        return j
    end
    j.state = j.broken and search_place(q, j)
    if not j.state then
        j.state, j.is_lost = SCHEDULED, true
    end
    return j
end
