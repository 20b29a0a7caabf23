-- Members of `ready` and `ids` that stand next to each other, in one text: a member of a sorted set costs some hundred bytes
-- and a search, a page costs that once for all that is in it.
--
--   ready_pages, ids_pages    sorted sets, scores are 0: 14 members of `ready` or `ids` in order, with nothing between them
--
-- Pages are made of members that come together, or have stayed in the set together. They never grow or shrink, and none
-- begins before another ends; members of the set may stand between those of a page. Whoever wants some of a page takes
-- it apart: the others go to the set.

-- Of functions as well: a script can have no more than 200 names. A page of `ready` fills a block of 1 KiB, one of
-- `ids` half of that.
local pages = {SIZE = :REDIS_PAGE, WIDTH = {ready = :REDIS_READY_WIDTH, ids = :REDIS_ID_WIDTH}}

-- Adds its members to a list.
function pages.split(page, width, members)
    members = members or {}
    local n = #members
    for at = 1, #page, width do
        n = n + 1
        members[n] = sub(page, at, at + width - 1)
    end
    return members
end

-- The last page that begins at this member or before it.
function pages.before(q, name, member)
    return call('ZREVRANGEBYLEX', q[name .. '_pages'], '[' .. member .. '~', '-', 'LIMIT', 0, 1)[1]
end

-- Whether no page has anything from the first to the last.
function pages.is_free(q, name, first, last)
    local page = pages.before(q, name, last)
    return not page or sub(page, -pages.WIDTH[name]) < first
end

function pages.holds(name, page, member)
    local at = page and find(page, member, 1, true)
    return at and at % pages.WIDTH[name] == 1
end

function pages.has(q, name, member)
    return call('ZSCORE', q[name], member) or pages.holds(name, pages.before(q, name, member), member)
end

function pages.count(q, name)
    return call('ZCARD', q[name]) + pages.SIZE * call('ZCARD', q[name .. '_pages'])
end

function pages.put(q, name, members)
    local pairs_of = {}
    for i, member in ipairs(members) do
        pairs_of[2 * i - 1], pairs_of[2 * i] = '0', member
    end
    each_2000('ZADD', q[name], pairs_of)
end

-- New members, in any order.
function pages.add(q, name, members)
    local whole, rest, paged = {}, members, 0
    for i = 2, #members do
        if members[i] < members[i - 1] then
            table.sort(members)
            break
        end
    end
    if #members >= pages.SIZE and pages.is_free(q, name, members[1], members[#members]) then
        paged = #members - #members % pages.SIZE
        rest = {unpack(members, paged + 1)}
    end
    for at = 1, paged, pages.SIZE do
        local n = #whole
        whole[n + 1], whole[n + 2] = '0', table.concat(members, '', at, at + pages.SIZE - 1)
    end
    each_2000('ZADD', q[name .. '_pages'], whole)
    pages.put(q, name, rest)
end

-- Takes a page apart.
function pages.open(q, name, page)
    pages.put(q, name, pages.split(page, pages.WIDTH[name]))
    call('ZREM', q[name .. '_pages'], page)
end

-- Wherever they are. Neighbours in their order go sooner.
function pages.remove(q, name, members)
    local whole, single, i = {}, members, 1
    if #members > 0 and call('ZCARD', q[name .. '_pages']) > 0 then
        single = {}
        while i <= #members do
            local page = pages.before(q, name, members[i])
            if page and page == table.concat(members, '', i, math.min(i + pages.SIZE - 1, #members)) then
                whole[#whole + 1] = page
                i = i + pages.SIZE
            else
                if pages.holds(name, page, members[i]) then
                    pages.open(q, name, page)
                end
                single[#single + 1] = members[i]
                i = i + 1
            end
        end
    end
    each_2000('ZREM', q[name .. '_pages'], whole)
    each_2000('ZREM', q[name], single)
end
