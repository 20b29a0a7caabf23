#!lua flags=no-writes
-- How many ready jobs stand before this one.
--
-- KEYS: base and state of the queue. ARGV: id.
-- parts: base damage record place

local q = queue_of(KEYS[1])
local record = call('HGET', q.job, ARGV[1])

if not record then
    return 0
end
return call('ZLEXCOUNT', q.ready, '-', '(' .. ready_member(job_parse(ARGV[1], record)))
