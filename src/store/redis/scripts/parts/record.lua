-- A job, its lease and its end as text; src/store/redis/codec/record.c reads the same.
--
--   job    MODE SEQ PRIORITY DUE RUN_AT TIMEOUT MAX_ATTEMPTS MAX_STALLS ATTEMPTS STALLS EXECUTIONS
--          CREATED_AT UPDATE_FLAGS ENCODING TYPE_LENGTH KEY_LENGTH IDEMPOTENCY_KEY_LENGTH
--          then type, key, idempotency key, extras and payload, with nothing between them
--   extras HEADERS_LENGTH TAGS_LENGTH headers tags; only when 2 was added to ENCODING. Tags have a space between them
--   lease  mode and token (21 bytes), EXPIRES_AT (18 digits) EXECUTION STARTED_AT WORKER
--          CANCEL_REQUESTED_AT POOL
--   end    state, whether there is a token, token (22 bytes), KIND EXECUTIONS ATTEMPTS STALLS
--          ENDED_AT HAS_RUN WORKER STARTED_AT WALL USER SYSTEM MAX_RSS_KB EXIT_CODE
--          CANCEL_REQUESTED_AT MERGED_INTO POOL
--
-- In Lua a job's `payload` is all that stands after the idempotency key: only extras.read() looks into it.
--
-- Of a job's numbers those after DUE are left out when they are 0, and CREATED_AT also when it is DUE.
--
-- MODE is p for plain jobs (no key, no tag, never ran, nothing counted) and t for all others; P and T have
-- their payload in a hash of its own, because it is long. A lease has the mode of a plain job until there are
-- traces of its execution; all others have t. HAS_RUN is 2 when such a lease was acked: there is nothing else of that
-- execution. What is absent is 0 or empty.

local JOB = '^(%a) (%d+) (%d) (%d+) (%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%d?) (%d*)'
    .. ' (%d*) (%d*) ()'
local OPTIONAL = {'run_at', 'timeout', 'max_attempts', 'max_stalls', 'attempts', 'stalls', 'executions', 'flags', 'encoding'}
local LEASE = '^(%d+) (%d+) (%d+) (%d+) (%d+) (.*)$'
local END = '^ (%-?%d+) (%d+) (%d+) (%d+) (%d+) (%d) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%-?%d+)'
    .. ' (%d+) ([^ ]*) (.*)$'
local NO_TOKEN = string.rep('\0', 20)

-- What somebody else wrote and cannot be read: it can still be ended. Its record is left as it is.
local function broken_job(id, record)
    return {
        broken = record, id = id, seq = '0', priority = ':JOB_PRIORITY_DEFAULT', due = '0', run_at = '0', timeout = '0',
        max_attempts = '0', max_stalls = '0', attempts = '0', stalls = '0', executions = '0',
        created_at = '0', flags = '0', encoding = '0', type = '', key = '', idempotency_key = '',
        payload = '', outside = false,
    }
end

local function job_parse(id, record)
    local j = {id = id}
    local mode, type_length, key_length, idempotency_length, at
    mode, j.seq, j.priority, j.due, j.run_at, j.timeout, j.max_attempts, j.max_stalls, j.attempts,
        j.stalls, j.executions, j.created_at, j.flags, j.encoding, type_length, key_length,
        idempotency_length, at = match(record, JOB)
    if not mode then
        return broken_job(id, record)
    end
    local key_at = at + (tonumber(type_length) or 0)
    local idempotency_at = key_at + (tonumber(key_length) or 0)
    local payload_at = idempotency_at + (tonumber(idempotency_length) or 0)
    if payload_at - 1 > #record then
        return broken_job(id, record)
    end
    for _, name in ipairs(OPTIONAL) do
        j[name] = j[name] ~= '' and j[name] or '0'
    end
    j.created_at = j.created_at ~= '' and j.created_at or j.due
    j.outside = mode == 'P' or mode == 'T'
    j.type = sub(record, at, key_at - 1)
    j.key = sub(record, key_at, idempotency_at - 1)
    j.idempotency_key = sub(record, idempotency_at, payload_at - 1)
    j.payload = sub(record, payload_at)
    return j
end

-- A table, because a script can have no more than 200 names.
local extras = {}

-- Headers, tags and the payload itself; what is absent is empty.
function extras.read(j)
    local has_some = j.encoding == '2' or j.encoding == '3'
    local headers, names, at = match(has_some and j.payload or '', '^(%d+) (%d+) ()')
    if not at then
        return '', '', j.payload
    end
    local names_at = at + tonumber(headers)
    local payload_at = names_at + tonumber(names)
    return sub(j.payload, at, names_at - 1), sub(j.payload, names_at, payload_at - 1), sub(j.payload, payload_at)
end

-- The sorted set `tags` has a member for each tag of a job: the tag, a space, the id.
local function each_tag(j, change)
    local _, names = extras.read(j)
    for name in string.gmatch(names, '%S+') do
        change(name .. ' ' .. j.id)
    end
end

function extras.enter_tags(q, j)
    each_tag(j, function(member) call('ZADD', q.tags, 0, member) end)
end

function extras.leave_tags(q, j)
    each_tag(j, function(member) call('ZREM', q.tags, member) end)
end

function extras.has_tags(j)
    local _, names = extras.read(j)
    return names ~= ''
end

local function job_pack(j)
    local plain = j.key == '' and j.attempts == '0' and j.stalls == '0' and j.executions == '0'
        and not extras.has_tags(j)
    local mode = plain and 'p' or 't'
    if j.outside then
        mode = string.upper(mode)
    end
    local fields = {mode, j.seq, j.priority, j.due, j.run_at, j.timeout, j.max_attempts, j.max_stalls, j.attempts,
        j.stalls, j.executions, j.created_at ~= j.due and j.created_at or '0', j.flags, j.encoding, #j.type, #j.key,
        #j.idempotency_key, ''}
    for i = 5, 17 do
        fields[i] = tonumber(fields[i]) ~= 0 and fields[i] or ''
    end
    return table.concat(fields, ' ') .. j.type .. j.key .. j.idempotency_key .. j.payload
end

-- A record whose payload lies elsewhere, with it. One whose payload is lost is no mode of ours: X.
local function with_payload(q, id, record)
    local payload = call('HGET', q.payload, id)
    return payload and record .. payload or 'X' .. sub(record, 2)
end

local function job_write(q, j)
    if not j.broken then
        call('HSET', q.job, j.id, job_pack(j))
    end
end

-- One that cannot be read has run out, unless it still says when it will.
local function lease_guess(j, lease)
    local expires = sub(lease, 22, 39)
    j.damaged_lease, j.mode = lease, 't'
    j.expires_at = is_moment(expires) and expires or '0'
    j.executions = text_of((j.executions or 0) + 1)
    j.started_at, j.worker, j.cancel_requested_at, j.pool = '0', '0', '0', ''
end

local function lease_read(j, lease)
    local expires, executions, started_at, worker, cancel_requested_at, pool = match(lease, LEASE, 22)
    j.state = RUNNING
    j.mode = match(lease, '^[pP]') or 't'
    j.token = sub(lease, 2, 21)
    if not is_moment(expires) then
        return lease_guess(j, lease)
    end
    j.expires_at, j.executions, j.started_at, j.worker, j.cancel_requested_at, j.pool = expires,
        executions, started_at, worker, cancel_requested_at, pool
end

local function lease_text(j)
    return table.concat({j.mode .. j.token .. moment(j.expires_at), j.executions, j.started_at, j.worker,
        j.cancel_requested_at, j.pool}, ' ')
end

-- How far its execution is, in percent, and a word about it or nothing.
local function write_progress(q, id, percent, text)
    local key = q.detail .. id
    write_to(q, 'HSET', key, 'progress_percent', percent)
    if text then
        call('HSET', key, 'progress_text', text)
    else
        call('HDEL', key, 'progress_text')
    end
end

-- False when it cannot be read.
local function end_read(j, ended)
    if not match(ended, '^[567]') or not match(ended, END, 23) then
        return false
    end
    j.state = sub(ended, 1, 1)
    j.token = sub(ended, 2, 2) == 'T' and sub(ended, 3, 22) or nil
    j.ended_by, j.executions, j.attempts, j.stalls, j.ended_at, j.has_run, j.worker, j.started_at,
        j.wall, j.user, j.system, j.max_rss_kb, j.exit_code, j.cancel_requested_at, j.merged_into,
        j.pool = match(ended, END, 23)
    return true
end
