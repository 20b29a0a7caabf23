#!lua
-- Stores one job that has nothing to be looked at but its id: it is plain, without keys, and due. Most producers bring
-- such jobs one by one, so this is all that it takes, and what most of these calls do not need comes after it.
--
-- KEYS: base and state of the queue.
-- ARGV: in one word its priority (1), due (18) and id (36); the body of its record (parts/record.lua).
-- Answers 1; or 0 when nothing is stored, and enqueue.lua has to see what there is.

local call, try, sub = redis.call, redis.pcall, string.sub
local base, state, id = KEYS[1], KEYS[2], sub(ARGV[1], 20)
local job, ids, ready = base .. 'job', base .. 'ids', base .. 'ready'

local seq = try('HINCRBY', state, 'seq', '1')
if type(seq) ~= 'number' then
    return 0
end
local number = string.format('%d', seq)
local place = sub(ARGV[1], 1, 19) .. sub('0000000000000000', #number + 1) .. number .. id
if call('HSETNX', job, id, 'p ' .. number .. ' ' .. ARGV[2]) == 0 then
    return 0
end
if try('ZADD', ids, '0', id) ~= 1 or try('ZADD', ready, '0', place) ~= 1 then
    try('ZREM', ids, id)
    call('HDEL', job, id)
    return 0
end
if call('HSETNX', state, 'rung', '1') == 1 then
    local prefix, name = string.match(base, '^(.-):{(.*)}:$')
    call('PUBLISH', prefix .. ':bell', name)
end
if seq > 1 and seq % :REDIS_PAGE_SPAN > 0 then
    return 1
end

-- parts: join

local prefix, name = string.match(base, '^(.-):{(.*)}:$')
try('SADD', prefix .. ':queues', name)
join(ids, :REDIS_ID_WIDTH, id)
join(ready, :REDIS_READY_WIDTH, place)
return 1
