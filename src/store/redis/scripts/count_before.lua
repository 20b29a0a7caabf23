#!lua flags=no-writes
-- How many ready jobs stand before this one.
--
-- KEYS: base and state of the queue. ARGV: id.
-- parts: base damage record pages place

local q = queue_of(KEYS[1])
local record = call('HGET', q.job, ARGV[1])

if not record then
    return 0
end
local place = ready_member(job_parse(ARGV[1], record))
local count = call('ZLEXCOUNT', q.ready, '-', '(' .. place)
    + pages.SIZE * call('ZLEXCOUNT', q.ready_pages, '-', '(' .. place)
local page = pages.before(q, 'ready', place)
if page and sub(page, 1, #place) < place then -- it was counted whole
    for _, other in ipairs(pages.split(page, #place)) do
        count = count - (other < place and 0 or 1)
    end
end
return count
