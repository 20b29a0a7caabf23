-- What somebody else wrote over and nobody can read any more: it is kept for people in the hash `damaged`,
-- told once by the reaper, and everything else goes on.

local DAMAGE_MOST = 1000 -- records of a queue
local DAMAGE_BYTES = 4096 -- of each

-- Whatever becomes of the note, the script goes on.
local function note_damage(q, kind, name, found)
    local field = kind .. ' ' .. sub(name, 1, 256)
    local kept = redis.pcall('HLEN', q.damaged)
    if type(kept) == 'number' and kept < DAMAGE_MOST
        and redis.pcall('HSET', q.damaged, field, sub(found, 1, DAMAGE_BYTES)) == 1 then
        redis.pcall('RPUSH', q.damage_news, field)
    end
end

-- A key of another type than ours gets another name.
local function set_key_aside(q, key)
    local name = sub(key, #q.base + 1)
    call('RENAME', key, key .. ':damaged')
    note_damage(q, 'key', name, 'it is now ' .. key .. ':damaged')
end

-- What pcall() caught, as the script's answer.
local function failed(failure)
    return redis.error_reply(type(failure) == 'table' and failure.err or failure)
end

-- A write to a key that one job has for itself.
local function write_to(q, command, key, ...)
    local answer = redis.pcall(command, key, ...)
    if type(answer) ~= 'table' or not answer.err then
        return answer
    end
    if find(answer.err, 'WRONGTYPE', 1, true) then
        set_key_aside(q, key)
    end
    return call(command, key, ...)
end

-- What a counter of the queue is now. One that is no number starts anew, from what `start` answers or from 0.
local function count_up(q, field, by, start)
    local counted = redis.pcall('HINCRBY', q.state, field, by)
    if type(counted) == 'number' then
        return counted
    end
    note_damage(q, 'state', field, call('HGET', q.state, field) or '')
    counted = (start and start() or 0) + by
    call('HSET', q.state, field, text_of(counted))
    return counted
end
