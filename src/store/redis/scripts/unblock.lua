#!lua flags=allow-oom
-- Blocked jobs whose twin does not run, because somebody has damaged what was known of it, wait for nobody. They are gone
-- through a part at a time.
--
-- KEYS: base and state of the queue. ARGV: now. Answers how many were made ready or scheduled.
-- parts: base damage record pages place batch standing ending twins

local LOOK_MOST = 500

local q = queue_of(KEYS[1])
local now = ARGV[1]
local behind = call('HGET', q.state, 'blocked_seen')
local page = call('ZRANGEBYLEX', q.blocked, behind and '(' .. behind or '-', '+', 'LIMIT', 0, LOOK_MOST)
local moved = 0

local function is_waited_for(j)
    local waiting, running = twins_load(q, j.key)
    return waiting == j.id and running and call('HEXISTS', q.lease, running) == 1
end

local function look_at(member)
    local record = call('HGET', q.job, sub(member, 35, 70))
    if #member ~= PLACE_LENGTH or not record then
        call('ZREM', q.blocked, member)
        note_damage(q, 'blocked', member, member)
        return
    end
    local j = job_parse(sub(member, 35, 70), record)
    if j.broken or not is_waited_for(j) then
        j.state, j.member = BLOCKED, member
        unblock(q, j, now)
        moved = moved + 1
    end
end

for _, member in ipairs(page) do
    look_at(member)
end
if #page == LOOK_MOST then
    call('HSET', q.state, 'blocked_seen', page[#page])
elseif behind then
    call('HDEL', q.state, 'blocked_seen')
end
if q.rings then
    ring(q)
end
return moved
