-- Members that came one by one become pages (pages.lua), several at a time.

-- Whether it is time to, after so many new numbers from this one on.
local function join_is_due(seq, count)
    return (seq + count) % :REDIS_PAGE_SPAN < count
end

-- Of the members of a set between the last page and this one. Those before it stay: others may still come between them.
local function join(set, width, member)
    local size, set_pages = :REDIS_PAGE, set .. '_pages'
    local page = redis.call('ZREVRANGEBYLEX', set_pages, '[' .. member .. '~', '-', 'LIMIT', '0', '1')[1]
    local low = page and '(' .. string.sub(page, -width) or '-'
    local count = redis.call('ZLEXCOUNT', set, low, '(' .. member)
    local most = math.min(count - count % size - size, 2 * :REDIS_PAGE_SPAN)
    if most <= 0 then
        return
    end
    local members, whole, last = redis.call('ZRANGEBYLEX', set, low, '+', 'LIMIT', '0', most), {}, nil
    for at = 1, most, size do
        local text = table.concat(members, '', at, at + size - 1)
        if #text ~= size * width then
            break
        end
        whole[#whole + 1], whole[#whole + 2], last = '0', text, members[at + size - 1]
    end
    if last then
        redis.call('ZADD', set_pages, unpack(whole))
        redis.call('ZREMRANGEBYLEX', set, low, '[' .. last)
    end
end
