#!lua
-- TaskHarbor: enqueues one job, for producers in any language. taskharbor-redis(7) has the manual.
--
-- KEYS: PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state. ARGV: names and values. Answers id, state, and 'new', 'existed' or
-- 'updated'.
-- parts: base record place standing ending twins elsewhere arrival

local LAYOUT = 1 -- that this script writes, as NEWEST in src/store/redis/redis_schema.c
local INSIDE = 1024 -- longer payloads have a hash of their own
local WINDOW = 24 * 3600 * 1000000
local FLAGS = {always = 0, never = 8, if_earlier = 16, if_later = 24}

local said = {payload = 'null', encoding = 'json', priority = '5', run_at = '0', timeout = '0', max_attempts = '0',
    max_stalls = '0', key = '', idempotency_key = '', type = '', id = '', update_run_at = 'always',
    update_payload = 'true', update_retry = 'true', reset_counts = 'false', idempotency_window = text_of(WINDOW)}

local function refuse(what)
    return redis.error_reply('INVALID ' .. what)
end

local function is_name(name)
    return #name >= 1 and #name <= 128 and not string.find(name, '[^A-Za-z0-9_.:-]')
end

local function is_number(text, most)
    return match(text, '^%d+$') and #text <= 18 and moment(text) <= moment(most)
end

local function is_key(key)
    return #key <= 256 and (key == '' or string.find(key, '%S') ~= nil)
end

-- The oldest program that may write. In a cluster the version may be out of a script's reach.
local function usable_from(base)
    local found = redis.pcall('HGET', match(base, '^(.-):{') .. ':schema', 'usable_from')
    return type(found) == 'string' and tonumber(found) or 0
end

local function time_now()
    local time = call('TIME')
    return time[1] .. pad(time[2], 6)
end

-- UUIDv7: milliseconds, then bits that nobody else has: the queue's sequence makes them so.
local function make_id(q, now)
    local hex = format('%012x', math.floor(tonumber(now) / 1000))
    local rest = redis.sha1hex(now .. ' ' .. q.base .. ' ' .. call('HINCRBY', q.state, 'seq', 1))
    return sub(hex, 1, 8) .. '-' .. sub(hex, 9) .. '-7' .. sub(rest, 1, 3) .. '-8' .. sub(rest, 4, 6)
        .. '-' .. sub(rest, 7, 18)
end

if #KEYS ~= 2 or KEYS[2] ~= KEYS[1] .. 'state' or not match(KEYS[1], '^.-:{[A-Za-z0-9_.:-]+}:$') then
    return refuse('the keys are PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state')
end
if usable_from(KEYS[1]) > LAYOUT then
    return redis.error_reply('VERSION this script is too old for the jobs here: use that of the installed TaskHarbor')
end
for i = 1, #ARGV, 2 do
    if not said[ARGV[i]] or not ARGV[i + 1] then
        return refuse("unknown field or no value: '" .. ARGV[i] .. "'")
    end
    said[ARGV[i]] = ARGV[i + 1]
end
if not is_name(said.type) then
    return refuse('type: 1 to 128 of A-Za-z0-9_.:-')
elseif said.encoding ~= 'json' and said.encoding ~= 'raw' then
    return refuse('encoding: json or raw')
elseif said.encoding == 'json' and not pcall(cjson.decode, '[' .. said.payload .. ']') then
    return refuse('payload: not JSON; use encoding raw for other bytes')
elseif #said.payload > 1048576 then
    return refuse('payload: at most 1048576 bytes')
elseif not match(said.priority, '^%d$') then
    return refuse('priority: 0 to 9')
elseif not is_number(said.run_at, '253402300799999999') then
    return refuse('run_at: microseconds since 1970, up to the year 9999')
elseif not is_number(said.timeout, '31536000000000') then
    return refuse('timeout: microseconds, at most a year')
elseif not is_number(said.max_attempts, '1000000') or not is_number(said.max_stalls, '1000000') then
    return refuse('max_attempts, max_stalls: 0 to 1000000')
elseif not is_key(said.key) or #said.idempotency_key > 256 then
    return refuse('key, idempotency_key: 1 to 256 bytes')
elseif not FLAGS[said.update_run_at] then
    return refuse('update_run_at: always, never, if_earlier or if_later')
elseif not is_number(said.idempotency_window, '31536000000000') then
    return refuse('idempotency_window: microseconds, at most a year')
elseif said.id ~= '' and not match(said.id, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x+$') then
    return refuse('id: a UUID in lower case')
end

local q = queue_of(KEYS[1])
local now = time_now()
local id = said.id ~= '' and string.lower(said.id) or make_id(q, now)
if #id ~= 36 then
    return refuse('id: a UUID in lower case')
end
if not string.find(said.idempotency_key, '%S') then
    said.idempotency_key = ''
end
local outside = #said.payload > INSIDE
local flags = (said.update_payload == 'true' and 1 or 0) + (said.update_retry == 'true' and 2 or 0)
    + (said.reset_counts == 'true' and 4 or 0) + FLAGS[said.update_run_at]
local body = table.concat({said.priority, said.run_at ~= '0' and said.run_at or now, said.run_at,
    said.timeout, said.max_attempts, said.max_stalls, '0', '0', '0', now,
    said.key ~= '' and text_of(flags) or '0', said.encoding == 'raw' and '1' or '0', #said.type, #said.key,
    #said.idempotency_key, ''}, ' ') .. said.type .. said.key .. said.idempotency_key
    .. (outside and '' or said.payload)
local mode = said.key == '' and 'p' or 't'
local answer, twin = arrive(q, {
    how = (outside and string.upper(mode) or mode) .. 'k' .. (said.id ~= '' and 'g' or ''), id = id, body = body,
    payload = outside and said.payload or '', expires = text_of(tonumber(now) + tonumber(said.idempotency_window)),
}, moment(now))
if not answer then
    return redis.error_reply("CONFLICT the key is in use by a job of type '" .. twin.type .. "'")
end
if q.rings then
    ring(q)
end
local NAMES = {['0'] = 'scheduled', ['1'] = 'ready', ['2'] = 'blocked', ['3'] = 'running', ['4'] = 'retry',
    ['5'] = 'done', ['6'] = 'dead', ['7'] = 'cancelled'}
if #answer == 1 then
    return {id, NAMES[answer], 'new'}
end
return {sub(answer, 3), NAMES[sub(answer, 2, 2)], sub(answer, 1, 1) == 'e' and 'existed' or 'updated'}
