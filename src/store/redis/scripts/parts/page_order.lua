-- Members of a set and of its pages, in one order.

-- The first so many of two lists in order, and how many of them are of each.
function pages.merge(first, second, count, is_upward)
    local all, i, k = {}, 1, 1
    for n = 1, math.min(count, #first + #second) do
        local a, b = first[i], second[k]
        if not b or a and (is_upward and a < b or not is_upward and a > b) then
            all[n] = a
            i = i + 1
        else
            all[n] = b
            k = k + 1
        end
    end
    return all, i - 1, k - 1
end

-- Takes out the first so many. Answers them, and pages that are damaged: these are out as well.
function pages.take(q, name, count)
    local key, paged, damaged = q[name .. '_pages'], {}, {}
    for _, page in ipairs(call('ZRANGE', key, 0, math.ceil(count / pages.SIZE) - 1)) do
        if #page == pages.SIZE * pages.WIDTH[name] then
            pages.split(page, pages.WIDTH[name], paged)
        else
            damaged[#damaged + 1] = page
        end
    end
    each_2000('ZREM', key, damaged)
    local taken, from_set, from_pages = pages.merge(call('ZRANGE', q[name], 0, count - 1), paged, count, true)
    if from_set > 0 then
        call('ZREMRANGEBYRANK', q[name], 0, from_set - 1)
    end
    if from_pages > 0 then
        local touched = math.ceil(from_pages / pages.SIZE)
        call('ZREMRANGEBYRANK', key, 0, touched - 1)
        pages.put(q, name, {unpack(paged, from_pages + 1, touched * pages.SIZE)})
    end
    return taken, damaged
end

-- Whether a member is inside of bounds as ZRANGEBYLEX has them. '~' stands for all that can follow: it is not compared, for
-- how it sorts depends on the server's locale.
function pages.is_within(member, low, high)
    local from, to, is_open = sub(low, 2), match(high, '^.(.-)(~?)$')
    from = match(from, '^(.-)~?$')
    local first, last = sub(member, 1, #from), sub(member, 1, #to)
    return (low == '-' or first > from or first == from and sub(low, 1, 1) == '[')
        and (high == '+' or last < to or last == to and is_open == '~')
end

-- Adds what a page has inside of the bounds, in the order that is asked for.
function pages.cut(page, width, low, high, is_upward, found)
    local members = pages.split(page, width)
    local is_whole = members[1] and pages.is_within(members[1], low, high) and pages.is_within(members[#members], low, high)
    for i = 1, #members do
        local member = members[is_upward and i or #members + 1 - i]
        if is_whole or pages.is_within(member, low, high) then
            found[#found + 1] = member
        end
    end
end

-- As ZRANGEBYLEX, or ZREVRANGEBYLEX if it goes down.
function pages.range(q, name, low, high, count, is_upward)
    local key, width, paged = q[name .. '_pages'], pages.WIDTH[name], {}
    local command, from, to = 'ZRANGEBYLEX', low, high
    if not is_upward then
        command, from, to = 'ZREVRANGEBYLEX', high, low
    end
    local single = call(command, q[name], from, to, 'LIMIT', 0, count)
    local whole = call(command, key, from, to, 'LIMIT', 0, math.ceil(count / pages.SIZE) + 1)
    -- The page that begins before the lowest may reach into it.
    local before = (sub(low, 1, 1) == '[' and '(' or '[') .. sub(low, 2)
    local page = low ~= '-' and call('ZREVRANGEBYLEX', key, before, '-', 'LIMIT', 0, 1)[1]
    if page and pages.is_within(sub(page, -width), low, '+') then
        table.insert(whole, is_upward and 1 or #whole + 1, page)
    end
    for _, found in ipairs(whole) do
        pages.cut(found, width, low, high, is_upward, paged)
    end
    return #paged == 0 and single or (pages.merge(single, paged, count, is_upward))
end
