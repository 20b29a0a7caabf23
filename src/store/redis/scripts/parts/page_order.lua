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

-- As ZRANGEBYLEX, or ZREVRANGEBYLEX if it goes down.
function pages.range(q, name, low, high, count, is_upward)
    local key, most, paged = q[name .. '_pages'], math.ceil(count / pages.SIZE) + 1, {}
    local single, whole
    if is_upward then
        single = call('ZRANGEBYLEX', q[name], low, high, 'LIMIT', 0, count)
        whole = call('ZRANGEBYLEX', key, low, high, 'LIMIT', 0, most)
        -- and the page that begins before `low`
        local before = (sub(low, 1, 1) == '[' and '(' or '[') .. sub(low, 2)
        local page = low ~= '-' and call('ZREVRANGEBYLEX', key, before, '-', 'LIMIT', 0, 1)[1]
        if page then
            table.insert(whole, 1, page)
        end
    else
        single = call('ZREVRANGEBYLEX', q[name], high, low, 'LIMIT', 0, count)
        whole = call('ZREVRANGEBYLEX', key, high, '-', 'LIMIT', 0, most)
    end
    for _, page in ipairs(whole) do
        local members = pages.split(page, pages.WIDTH[name])
        for i = is_upward and 1 or #members, is_upward and #members or 1, is_upward and 1 or -1 do
            if pages.is_within(members[i], low, high) then
                paged[#paged + 1] = members[i]
            end
        end
    end
    return #paged == 0 and single or (pages.merge(single, paged, count, is_upward))
end
