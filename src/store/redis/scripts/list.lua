#!lua flags=no-writes
-- The ids of a page, in order; a part at a time, so that no call takes long.
--
-- KEYS: base and state of the queue. ARGV: the id to start behind or nothing, how many at most, state or nothing,
-- type or nothing, 1 for the oldest first or 0. Answers the id to go on behind, or nothing when this is the end; then the ids.
-- parts: base record place standing

local LOOK_MOST = 1000
local FEW = 1000

local q = queue_of(KEYS[1])
local behind, limit, state, type_wanted = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local is_upward = ARGV[5] == '1'

local function id_of(member)
    if state == READY then
        return sub(member, 36)
    elseif state == SCHEDULED or state == BLOCKED or state == RETRY then
        return sub(member, 35, 70)
    end
    return member
end

-- When few are in the state, they are sorted; when many are, going through all by id finds enough.
local function candidates_of_few()
    if state == '' then
        return nil
    end
    local set = state == RUNNING and q.lease or q[SET_OF[state]]
    if call(state == RUNNING and 'HLEN' or 'ZCARD', set) > FEW then
        return nil
    end
    local ids = {}
    local members = state == RUNNING and call('HKEYS', set) or call('ZRANGE', set, 0, -1)
    for _, member in ipairs(members) do
        local id = id_of(member)
        if behind == '' or (id > behind) == is_upward and id ~= behind then
            ids[#ids + 1] = id
        end
    end
    table.sort(ids, function(a, b) return (a < b) == is_upward and a ~= b end)
    return ids, ''
end

local function candidates_of_many()
    local from = behind ~= '' and '(' .. behind or is_upward and '-' or '+'
    local ids = call(is_upward and 'ZRANGEBYLEX' or 'ZREVRANGEBYLEX', q.ids, from,
        is_upward and '+' or '-', 'LIMIT', 0, LOOK_MOST)
    return ids, #ids == LOOK_MOST and ids[#ids] or ''
end

local function is_wanted(id)
    local j = (state ~= '' or type_wanted ~= '') and standing(q, id)
    if j == nil then
        return false
    end
    return (state == '' or j.state == state) and (type_wanted == '' or j.type == type_wanted)
end

local ids, go_on = candidates_of_few()
if not ids then
    ids, go_on = candidates_of_many()
end
local answer = {go_on}
for _, id in ipairs(ids) do
    if #answer > limit then
        answer[1] = answer[#answer]
        break
    end
    if is_wanted(id) then
        answer[#answer + 1] = id
    end
end
return answer
