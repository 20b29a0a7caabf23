#!lua flags=no-writes
-- Which types of the queue are aside: the sets lead from one to the next, however many jobs each has.
--
-- KEYS: base and state of the queue. Answers three for each: why, type, and since when the one that is aside
-- for longest.
-- parts: base

local q = queue_of(KEYS[1])
local answer, known = {}, {}

-- `form` finds why, type and a moment in a member. What has another form was damaged, and is stepped over.
local function walk(set, form)
    local behind = '-'
    while true do
        local member = call('ZRANGEBYLEX', set, behind, '+', 'LIMIT', 0, 1)[1]
        if not member then
            return
        end
        local why, type_name, moment_found = match(member, form)
        local kind = why and why .. type_name .. ' '
        behind = '(' .. (kind and kind .. '~' or member)
        if kind and not known[kind] then
            local n = #answer
            answer[n + 1], answer[n + 2], answer[n + 3] = why, type_name, moment_found
            known[kind] = true
        end
    end
end

local MOMENT = '(' .. string.rep('%d', 18) .. ')'
walk(q.aside_age, '^([12])(%S*) ' .. MOMENT)
-- A type that only this one knows has lost its age: it counts from when it was due.
walk(q.aside_place, '^([12])(%S*) %d' .. MOMENT)
return answer
