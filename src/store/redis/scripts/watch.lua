#!lua flags=allow-oom
-- Somebody looks at jobs of this queue, until then. What is over is cleared away; and all of it some time
-- after the last one who looks has gone.
--
-- KEYS: base and state of the queue. ARGV: now, until, ids.
-- parts: base damage

local KEPT = 3600

local q = queue_of(KEYS[1])
local now, until_ = ARGV[1], ARGV[2]

local function clear_away()
    local marks = call('HGETALL', q.watch)
    for i = 1, #marks, 2 do
        if marks[i + 1] <= now then
            call('HDEL', q.watch, marks[i])
        end
    end
end

local function put(id)
    local before = call('HGET', q.watch, id)
    if call('HEXISTS', q.job, id) == 1 and not (before and before >= until_) then
        call('HSET', q.watch, id, until_)
        call('EXPIRE', q.watch, KEPT)
    end
end

clear_away()
for i = 3, #ARGV do
    put(ARGV[i])
end
return 1
