#!lua
-- TaskHarbor: enqueues one job, for producers in any language. taskharbor-redis(7) has the manual.
--
-- KEYS: PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state. ARGV: names and values. Answers id, state, and 'new', 'existed' or
-- 'updated'. The checks, their order and their words are those of job_validate() in src/job/job.c and of
-- taskharbor.enqueue() in PostgreSQL; tests/contract/test_doors.c holds them to each other.
-- parts: base damage record pages join place batch standing ending twins elsewhere sequence arrival json

local LAYOUT = 4 -- that this script writes, as NEWEST in src/store/redis/schema.c
local INSIDE = 1024 -- longer payloads have a hash of their own
local FLAGS = {always = 0, never = 8, if_earlier = 16, if_later = 24}
local BOOLEANS = {['true'] = 1, ['false'] = 0}
local NAME_ALLOWED = 'use 1 to 128 of A-Z a-z 0-9 _ . : -'
local HEADERS_ALLOWED = 'use a JSON object of at most 8192 bytes, or leave them out'
local KEY_ALLOWED = 'use 1 to 256 bytes of UTF-8, or leave it out'
local YEAR_2000, YEAR_9999 = ':TIMESTAMP_2000', ':TIMESTAMP_MAX'
local YEAR = ':JOB_TIMEOUT_MAX'

-- What is absent is false, but for those with a default.
local said = {payload = 'null', encoding = 'json', priority = ':JOB_PRIORITY_DEFAULT', run_at = '0', timeout = '0', max_attempts = '0',
    max_stalls = '0', key = false, idempotency_key = '', type = '', id = false, update_run_at = 'always',
    update_payload = 'true', update_retry = 'true', reset_counts = 'false', idempotency_window = false,
    headers = false, tags = false}

-- ---- checks: each answers what is wrong, or nothing ----

-- Printable ASCII as it is, any other byte as \xNN; cut with "..." when longer.
local function excerpt(text)
    local shown = ''
    for i = 1, #text do
        local byte = string.byte(text, i)
        local next_part = byte >= 32 and byte <= 126 and sub(text, i, i) or format('\\x%02x', byte)
        if #shown + #next_part > 44 then
            return shown .. '...'
        end
        shown = shown .. next_part
    end
    return shown
end

local function check_name(field, name)
    if not find(name, '%S') then
        return field .. ' is blank: ' .. NAME_ALLOWED
    elseif find(name, '[^A-Za-z0-9_.:-]') then
        return field .. " '" .. excerpt(name) .. "' has a character that is not allowed: " .. NAME_ALLOWED
    elseif #name > 128 then
        return field .. " '" .. excerpt(name) .. "' is " .. #name .. ' characters long: ' .. NAME_ALLOWED
    end
end

local function is_number(text, most)
    return match(text, '^%d+$') and #text <= 18 and moment(text) <= moment(most)
end

local function check_range(field, most, allowed)
    if not is_number(said[field], most) then
        return field .. ' is out of range: use ' .. allowed
    end
end

local function check_run_at()
    local wrong = check_range('run_at', YEAR_9999, 'the years 2000 to 9999')
    if not wrong and tonumber(said.run_at) > 0 and moment(said.run_at) < moment(YEAR_2000) then
        return 'run_at is before the year 2000 (as a number it is microseconds since 1970)'
    end
    return wrong
end

local function check_key(field)
    local key = said[field]
    if not key or key == '' and field == 'idempotency_key' then
        return
    elseif not find(key, '%S') then
        return field .. ' is blank: ' .. KEY_ALLOWED
    elseif #key > 256 then
        return field .. ' is ' .. #key .. ' bytes long: ' .. KEY_ALLOWED
    elseif find(key, '%z') or not ascii_of(key) then
        return field .. ' is not valid UTF-8: ' .. KEY_ALLOWED
    end
end

local function check_id()
    local id = said.id
    if id and (#id ~= 36 or not match(id, '^%x+%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$')) then
        return 'id is no UUID'
    elseif id and not find(id, '[^0-]') then
        return 'id is missing: use a UUID other than nil'
    end
end

local function check_word(field, words, allowed)
    if not words[said[field]] then
        return field .. ' is ' .. allowed
    end
end

local function check_payload(max_payload)
    if #said.payload > max_payload then
        return 'payload is ' .. #said.payload .. ' bytes long: use at most ' .. text_of(max_payload)
    end
end

local function check_json()
    if said.encoding == 'json' and not is_json(said.payload) then
        return 'payload is not JSON (use raw for other bytes)'
    end
end

local function check_headers()
    local headers = said.headers
    if headers and #headers > 8192 then
        return 'headers are ' .. #headers .. ' bytes long: ' .. HEADERS_ALLOWED
    elseif headers and not (find(headers, '^%s*{') and is_json(headers)) then
        return 'headers are not a JSON object: ' .. HEADERS_ALLOWED
    end
end

-- Tags with a space between them; what is blank is none.
local function check_tags()
    local names, seen = {}, {}
    for name in string.gmatch(said.tags or '', '[^ ]+') do
        names[#names + 1] = name
    end
    if #names > 8 then
        return 'tags are ' .. #names .. ': use at most 8'
    end
    for _, name in ipairs(names) do
        local wrong = check_name('tag', name)
        if wrong or seen[name] then
            return wrong or "tag '" .. name .. "' stands there twice: use it once"
        end
        seen[name] = true
    end
    said.tags = table.concat(names, ' ')
end

local function check_all(queue, max_payload)
    return check_id() or check_name('type', said.type) or check_name('queue', queue)
        or check_word('encoding', {json = 1, raw = 1}, 'json or raw')
        or check_payload(max_payload)
        or check_range('priority', ':JOB_PRIORITY_MAX', '0 to :JOB_PRIORITY_MAX') or check_run_at()
        or check_range('timeout', YEAR, '0 to 365d')
        or check_range('max_attempts', '1000000', '0 to 1000000')
        or check_range('max_stalls', '1000000', '0 to 1000000')
        or check_key('key') or check_key('idempotency_key')
        or check_range('idempotency_window', YEAR, '0 to 365d')
        or check_word('update_payload', BOOLEANS, 'true or false')
        or check_word('update_run_at', FLAGS, 'always, never, if_earlier or if_later')
        or check_word('update_retry', BOOLEANS, 'true or false')
        or check_word('reset_counts', BOOLEANS, 'true or false') or check_headers() or check_tags()
        or check_json()
end

local function listen()
    local heard = {}
    for i = 1, #ARGV, 2 do
        local name = ARGV[i]
        if said[name] == nil or not ARGV[i + 1] then
            return "unknown field or no value: '" .. excerpt(name) .. "'"
        elseif heard[name] then
            return name .. ' stands there twice'
        end
        heard[name], said[name] = true, ARGV[i + 1]
    end
end

-- ---- what the layout says ----

-- In a cluster it may be out of a script's reach; what thd has told the queue then holds.
local function read_layout(q)
    local told = call('HMGET', q.state, 'max_payload', 'idempotency_window')
    local found = redis.pcall('HMGET', match(q.base, '^(.-):{') .. ':schema', 'usable_from', 'max_payload',
        'idempotency_window')
    if found.err then
        found = {}
    end
    return tonumber(found[1] or 0), tonumber(told[1] or found[2] or 1048576),
        told[2] or found[3] or '86400000000'
end

local function time_now()
    local time = call('TIME')
    return time[1] .. pad(time[2], 6)
end

-- UUIDv7: milliseconds, then bits that nobody else has: the queue's sequence makes them so.
local function make_id(q, now)
    local hex = format('%012x', math.floor(tonumber(now) / 1000))
    local rest = redis.sha1hex(now .. ' ' .. q.base .. ' ' .. text_of(take_seq(q, 1)))
    return sub(hex, 1, 8) .. '-' .. sub(hex, 9) .. '-7' .. sub(rest, 1, 3) .. '-8' .. sub(rest, 4, 6)
        .. '-' .. sub(rest, 7, 18)
end

-- ---- the job ----

-- parts/record.lua has the forms.
local function extras_of()
    if not said.headers and said.tags == '' then
        return ''
    end
    local headers = said.headers or ''
    return #headers .. ' ' .. #said.tags .. ' ' .. headers .. said.tags
end

local function body_of(now, outside)
    local headers_and_tags = extras_of()
    local encoding = (said.encoding == 'raw' and 1 or 0) + (headers_and_tags ~= '' and 2 or 0)
    local flags = BOOLEANS[said.update_payload] + 2 * BOOLEANS[said.update_retry] + 4 * BOOLEANS[said.reset_counts]
        + FLAGS[said.update_run_at]
    return table.concat({said.priority, said.run_at ~= '0' and said.run_at or now, said.run_at,
        said.timeout, said.max_attempts, said.max_stalls, '', '', '', now,
        said.key and text_of(flags) or '', encoding, #said.type, #(said.key or ''),
        #said.idempotency_key, ''}, ' ') .. said.type .. (said.key or '') .. said.idempotency_key
        .. headers_and_tags .. (outside and '' or said.payload)
end

local function arrival_of(q, now)
    local outside = #said.payload > INSIDE
    local mode = (said.key or said.tags ~= '') and 't' or 'p'
    return {
        how = (outside and string.upper(mode) or mode) .. 'k' .. (said.id and 'g' or ''),
        id = said.id and string.lower(said.id) or make_id(q, now), body = body_of(now, outside),
        payload = outside and said.payload or '',
        expires = text_of(math.min(tonumber(now) + tonumber(said.idempotency_window), tonumber(YEAR_9999))),
    }
end

local NAMES = setmetatable({[RUNNING] = 'running'}, {__index = SET_OF})

local function answer_of(id, answer)
    if #answer == 1 then
        return {id, NAMES[answer], 'new'}
    end
    return {sub(answer, 3), NAMES[sub(answer, 2, 2)], sub(answer, 1, 1) == 'e' and 'existed' or 'updated'}
end

local queue = #KEYS == 2 and KEYS[2] == KEYS[1] .. 'state' and match(KEYS[1], '^.-:{(.*)}:$')
if not queue then
    return redis.error_reply('INVALID the keys are PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state')
end
local q = queue_of(KEYS[1])
local usable_from, max_payload, window = read_layout(q)
if usable_from > LAYOUT then
    return redis.error_reply('VERSION this script is too old for the jobs here: use that of the installed TaskHarbor')
end
local wrong = listen()
if not find(said.idempotency_key, '%S') then
    said.idempotency_key = ''
end
said.idempotency_window = said.idempotency_window or window
wrong = wrong or check_all(queue, max_payload)
if wrong then
    return redis.error_reply('INVALID ' .. wrong)
end
-- Without what leads the digits, as all others write them.
for _, field in ipairs({'run_at', 'timeout', 'max_attempts', 'max_stalls'}) do
    said[field] = match(said[field], '^0*(%d+)$')
end
local now = time_now()
local a = arrival_of(q, now)
local answer, twin = arrive(q, a, moment(now))
if not answer then
    return redis.error_reply("CONFLICT the key is in use by a job of type '" .. twin.type .. "'")
end
if q.rings then
    ring(q)
end
return answer_of(a.id, answer)
