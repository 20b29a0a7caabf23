#!lua
-- TaskHarbor: one job with its result and its end, for readers in any language. taskharbor-redis(7) has the manual.
--
-- KEYS: PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state. ARGV: the id; and, to be told of its end on the channel
-- PREFIX:{QUEUE}:end:ID, for how many seconds. Answers names and values; nothing when there is no such job.
-- parts: base record pages place batch standing

local WATCH_MOST = 86400
local ENDED = {[DONE] = true, [DEAD] = true, [CANCELLED] = true}
local REASONS = {'exhausted', 'permanent', 'stalled', 'no_handler', 'invalid_payload', 'cannot_start'}
local ASIDE = {'no_handler', 'cannot_start'}
-- Of the record; what is 0 there is absent.
local COUNTS = {'priority', 'attempts', 'stalls', 'executions'}
local ABSENT_IF_0 = {'run_at', 'timeout', 'max_attempts', 'max_stalls', 'created_at', 'started_at', 'ended_at', 'worker',
    'cancel_requested_at'}
local TEXTS = {'key', 'idempotency_key', 'pool'}
local DETAILS = {'last_error', 'failed_at', 'exit_code', 'signal', 'progress_percent', 'progress_text', 'result', 'output'}

local q = #KEYS == 2 and KEYS[2] == KEYS[1] .. 'state' and match(KEYS[1], '^.-:{.*}:$') and queue_of(KEYS[1])
if not q then
    return redis.error_reply('INVALID the keys are PREFIX:{QUEUE}: and PREFIX:{QUEUE}:state')
end
local id, seconds = string.lower(ARGV[1] or ''), ARGV[2]
if not is_id(id) then
    return redis.error_reply('INVALID id is no UUID')
end
if seconds and not (match(seconds, '^%d+$') and tonumber(seconds) >= 1 and tonumber(seconds) <= WATCH_MOST) then
    return redis.error_reply('INVALID the seconds are out of range: use 1 to ' .. WATCH_MOST)
end

local j = standing(q, id)
if not j then
    return {}
end

local answer = {}

local function add(name, value)
    if value and value ~= '' then
        answer[#answer + 1], answer[#answer + 2] = name, value
    end
end

local headers, tags, payload = extras.read(j)

local function payload_of()
    return j.outside and call('HGET', q.payload, id) or payload
end

local function add_all(names, absent)
    for _, name in ipairs(names) do
        if j[name] ~= absent then
            add(name, j[name])
        end
    end
end

add('id', id)
add('type', j.type)
add('queue', q.name)
add('state', j.state == RUNNING and 'running' or SET_OF[j.state])
add('encoding', tonumber(j.encoding) % 2 == 1 and 'raw' or 'json')
answer[#answer + 1], answer[#answer + 2] = 'payload', payload_of()
add('headers', headers)
add('tags', tags)
add_all(COUNTS)
add_all(ABSENT_IF_0, '0')
add_all(TEXTS)
add('merged_into', j.merged_into ~= '-' and j.merged_into)

local detail = redis.pcall('HMGET', q.detail .. id, unpack(DETAILS))
if j.aside and j.aside.error ~= '' then
    detail[1] = j.aside.error
end
for i, name in ipairs(DETAILS) do
    -- What an attempt before failed with is not how a done job ended.
    if not (j.state == DONE and (name == 'exit_code' or name == 'signal')) then
        add(name, not detail.err and detail[i])
    end
end
if j.state == DONE and j.exit_code ~= ':JOB_NO_EXIT_CODE' then
    add('exit_code', j.exit_code)
end
local reason = redis.pcall('HGET', q.detail .. id, 'reason')
add('reason', type(reason) == 'string' and REASONS[tonumber(reason)])
if j.aside then
    add('aside', ASIDE[tonumber(j.aside.why)])
    add('aside_since', text_of(tonumber(j.aside.since)))
end

if seconds and not ENDED[j.state] then
    call('SADD', q.readers, id)
    if call('TTL', q.readers) < tonumber(seconds) then
        call('EXPIRE', q.readers, seconds)
    end
end
return answer
