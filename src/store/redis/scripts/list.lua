#!lua flags=no-writes
-- A part of one queue's jobs in the order of a list, from the index of their state: no call takes long.
--
-- A position is a text that sorts: time (18 digits), sequence (16), id (36). Ended and running jobs, and all of them
-- by id, have zeros for a sequence; by id they have zeros for a time as well.
--
-- KEYS: base and state of the queue.
-- ARGV: state or nothing, 1 for the oldest first or 0, the lowest position and the one before which to stop ('' is
-- unbounded), the position to go on behind or nothing, how many at most, how many may be looked at; then type, key and a part
-- of the error, each with '=' before it, or nothing; a tag or nothing. By a tag they go by id, whatever their state.
-- Answers the position up to which it has looked, or nothing when that was all; how many it has looked at; then the
-- positions of those that fit.
-- parts: base record pages page_order place batch standing

local PAGE = 500
local NO_SEQ = string.rep('0', 16)
local NO_TIME = string.rep('0', 34)

local q = queue_of(KEYS[1])
local state, is_upward, low, high, behind = ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[4], ARGV[5]
local limit, look_most = tonumber(ARGV[6]), tonumber(ARGV[7])
local type_wanted, key_wanted, error_wanted = ARGV[8], ARGV[9], ARGV[10]
local tag = ARGV[11]
local is_picky = type_wanted ~= '' or key_wanted ~= '' or error_wanted ~= '' or tag ~= '' and state ~= ''

-- ---- where they are: each source answers the next positions, in order, behind `behind` ----

-- Members that sort as text; `front` is what they have before the position, `cut` takes the position out of one.
local function from_text(name, front, cut)
    return function(after, count)
        local from, to = '[' .. front .. low, high ~= '' and '(' .. front .. high or '(' .. front .. '~'
        if after and is_upward then
            from = '(' .. front .. after .. '~'
        elseif after then
            to = '(' .. front .. after
        end
        local members
        if pages.WIDTH[name] then
            members = pages.range(q, name, from, to, count, is_upward)
        elseif is_upward then
            members = call('ZRANGEBYLEX', q[name], from, to, 'LIMIT', 0, count)
        else
            members = call('ZREVRANGEBYLEX', q[name], to, from, 'LIMIT', 0, count)
        end
        local places = {}
        for i, member in ipairs(members) do
            places[i] = cut(member)
        end
        return places
    end
end

-- Members that are an id, with the same before each.
local function from_ids(name, front)
    local skip = #NO_TIME + 1
    low, high = sub(low, skip), sub(high, skip)
    local source = from_text(name, front, function(member) return NO_TIME .. sub(member, #front + 1) end)
    return function(after, count)
        return source(after and sub(after, skip), count)
    end
end

local function is_behind(place, after)
    if not after then
        return true
    end
    return is_upward and place > after or not is_upward and place < after
end

-- Many may have ended at one moment: those up to the position are passed over.
local function from_ended(set)
    return function(after, count)
        local from = low ~= '' and low or '-inf'
        local to = high ~= '' and '(' .. high or '+inf'
        if after and is_upward then
            from = sub(after, 1, 18)
        elseif after then
            to = sub(after, 1, 18)
        end
        local places, offset, step, is_last = {}, 0, math.min(count, PAGE), false
        repeat
            local page
            if is_upward then
                page = call('ZRANGEBYSCORE', set, from, to, 'WITHSCORES', 'LIMIT', offset, step)
            else
                page = call('ZREVRANGEBYSCORE', set, to, from, 'WITHSCORES', 'LIMIT', offset, step)
            end
            for i = 1, #page, 2 do
                local place = moment(text_of(tonumber(page[i + 1]))) .. NO_SEQ .. page[i]
                if #places < count and is_behind(place, after) then
                    places[#places + 1] = place
                end
            end
            is_last = #page < 2 * step
            offset, step = offset + step, math.min(2 * step, PAGE)
        until #places == count or is_last
        return places
    end
end

local function from_leases()
    local all, leases, batches = {}, call('HGETALL', q.lease), call('HKEYS', q.batch)
    local function add(id, started_at)
        local place = moment(started_at) .. NO_SEQ .. id
        if place >= low and (high == '' or place < high) then
            all[#all + 1] = place
        end
    end
    for i = 1, #leases, 2 do
        local j = {}
        lease_read(j, leases[i + 1])
        add(leases[i], j.started_at)
    end
    for _, name in ipairs(batches) do
        local b = batch.load(q, name)
        if b then
            batch.each_open(b, function(id) add(id, b.started_at) end)
        end
    end
    -- Few run at a time: they are sorted.
    table.sort(all, function(a, b) return is_upward and a < b or not is_upward and a > b end)
    local at = 1
    return function(after, count)
        while all[at] and not is_behind(all[at], after) do
            at = at + 1
        end
        local places = {}
        for i = at, math.min(at + count - 1, #all) do
            places[#places + 1] = all[i]
        end
        return places
    end
end

local function sources()
    if tag ~= '' then
        return {from_ids('tags', tag .. ' ')}
    elseif state == '' then
        return {from_ids('ids', '')}
    elseif state == RUNNING then
        return {from_leases()}
    elseif state >= DONE then
        return {from_ended(q[SET_OF[state]])}
    elseif state ~= READY then
        return {from_text(SET_OF[state], '', function(member) return sub(member, 1, 70) end)}
    end
    local each = {}
    for priority = 0, 9 do
        each[#each + 1] = from_text('ready', priority, function(member) return sub(member, 2) end)
    end
    each[#each + 1] = from_text('aside_due', '', function(member) return sub(member, 1, 70) end)
    return each
end

-- ---- which of them fit ----

local function has_error(id)
    local record = redis.pcall('HGET', q.aside, id)
    local aside = type(record) == 'string' and aside_read(id, record)
    local found = aside and aside.error ~= '' and aside.error
        or redis.pcall('HGET', q.detail .. id, 'last_error')
    return type(found) == 'string' and find(found, sub(error_wanted, 2), 1, true)
end

local function is_of_state(id)
    local j = standing(q, id)
    return j and j.state == state
end

local function fits(id)
    local record = call('HGET', q.job, id)
    local j = record and job_parse(id, record)
    return j and (type_wanted == '' or '=' .. j.type == type_wanted)
        and (key_wanted == '' or '=' .. j.key == key_wanted) and (error_wanted == '' or has_error(id))
        and (tag == '' or state == '' or is_of_state(id))
end

-- ---- the ways together ----

-- The next `count` of all sources, in order; each gives so many as could all be the first.
local function next_places(from, after, count)
    local all = {}
    for _, source in ipairs(from) do
        for _, place in ipairs(source(after, count)) do
            all[#all + 1] = place
        end
    end
    if #from > 1 then
        table.sort(all, function(a, b) return is_upward and a < b or not is_upward and a > b end)
    end
    return all
end

local from, after = sources(), behind ~= '' and behind or nil
local answer, looked, is_over = {'', 0}, 0, false
while not is_over and looked < look_most and #answer - 2 < limit do
    local count = math.min(is_picky and PAGE or limit - (#answer - 2), look_most - looked)
    local places = next_places(from, after, count)
    is_over = #places < count
    for i = 1, math.min(#places, count) do
        if #answer - 2 == limit then
            is_over = false
            break
        end
        after, looked = places[i], looked + 1
        local id = sub(after, 35)
        if is_id(id) and (not is_picky or fits(id)) then
            answer[#answer + 1] = after
        end
    end
end
answer[1], answer[2] = is_over and '' or after, looked
return answer
