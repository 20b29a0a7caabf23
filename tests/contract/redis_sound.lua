-- Whether what is stored of one queue agrees with itself. KEYS: the base of the queue. Answers the rule that is
-- broken, or nothing.

local base = KEYS[1]
local SETS = {scheduled = '0', ready = '1', blocked = '2', retry = '4', done = '5', dead = '6',
    cancelled = '7'}
local HEAD = '^(%a) (%d+) (%d) (%d+) %d* %d* %d* %d* (%d*) (%d*) (%d*) %d* %d* (%d?) (%d+) (%d*) (%d*) ()'
local PAGE, WIDTH = 14, {ready = 71, ids = 36}

local function pad(digits, width)
    return string.rep('0', width - #digits) .. digits
end

local function all(key)
    local flat, map, count = redis.call('HGETALL', base .. key), {}, 0
    for i = 1, #flat, 2 do
        map[flat[i]] = flat[i + 1]
        count = count + 1
    end
    return map, count
end

-- The members of a sorted set, and of its pages; or nothing and the rule that these break.
local function members_of(set)
    local members, last = redis.call('ZRANGE', base .. set, 0, -1), ''
    for _, page in ipairs(WIDTH[set] and redis.call('ZRANGE', base .. set .. '_pages', 0, -1) or {}) do
        if #page ~= PAGE * WIDTH[set] then
            return nil, 'a page is full'
        end
        for at = 1, #page, WIDTH[set] do
            local member = string.sub(page, at, at + WIDTH[set] - 1)
            if member <= last then
                return nil, 'pages are in order, each in itself and one after the other'
            end
            last = member
            members[#members + 1] = member
        end
    end
    return members
end

local jobs, job_count = all('job')
local leases = all('lease')
local ends = all('ended')
local payloads = all('payload')
local keyed = all('keyed')
local idempotency, idempotency_count = all('idempotency')
local state, parsed, tag_count = {}, {}, 0

-- The tags that a record has from here on.
local function tags_at(record, at, encoding)
    if encoding ~= '2' and encoding ~= '3' then
        return ''
    end
    local headers, tags, from = string.match(record, '^(%d+) (%d+) ()', at)
    return string.sub(record, from + headers, from + headers + tags - 1)
end

for id, record in pairs(jobs) do
    local j = {}
    local encoding, type_length, key_length, at
    j.mode, j.seq, j.priority, j.due, j.attempts, j.stalls, j.executions, encoding, type_length, key_length,
        j.idempotency_length, at = string.match(record, HEAD)
    if not j.mode then
        return 'a record can be read: ' .. record
    end
    j.key = string.sub(record, at + type_length, at + type_length + (tonumber(key_length) or 0) - 1)
    parsed[id] = j
    local tags = tags_at(record, at + type_length + #j.key + (tonumber(j.idempotency_length) or 0), encoding)
    for tag in string.gmatch(tags, '%S+') do
        tag_count = tag_count + 1
        if not redis.call('ZSCORE', base .. 'tags', tag .. ' ' .. id) then
            return 'each tag of a job leads to it'
        end
    end
    local plain = j.key == '' and tags == '' and j.attempts == '' and j.stalls == '' and j.executions == ''
    if (string.lower(j.mode) == 'p') ~= plain then
        return 'a plain job is marked as such: ' .. record
    end
    if (string.upper(j.mode) == j.mode) ~= (payloads[id] ~= nil) then
        return 'a payload is where the record says'
    end
end
if redis.call('ZCARD', base .. 'tags') ~= tag_count then
    return 'a tag leads to a job that has it'
end
for id in pairs(payloads) do
    if not jobs[id] then
        return 'a payload has a job'
    end
end

for set, number in pairs(SETS) do
    local members, broken = members_of(set)
    if not members then
        return broken
    end
    for _, member in ipairs(members) do
        local id = member
        if set == 'ready' then
            id = string.sub(member, 36)
        elseif number < '5' then
            id = string.sub(member, 35, 70)
        end
        local j = parsed[id]
        if not j then
            return 'a member of ' .. set .. ' has a job'
        end
        if state[id] then
            return 'a job is in one state only'
        end
        state[id] = number
        local place = pad(j.due, 18) .. pad(j.seq, 16) .. id
        if set == 'ready' and member ~= j.priority .. place
            or number < '5' and set ~= 'ready' and member ~= place .. j.priority then
            return 'a member of ' .. set .. ' is where its job says'
        end
        if number >= '5' and (not ends[id] or string.sub(ends[id], 1, 1) ~= number) then
            return 'an ended job has its end'
        end
        if number >= '5' and redis.call('ZSCORE', base .. set, id)
            ~= string.match(ends[id], '^ %-?%d+ %d+ %d+ %d+ (%d+) ', 23) then
            return 'an ended job is kept by the moment of its end'
        end
    end
end
local aside_count = 0
for id, record in pairs(all('aside')) do
    local why, since, place, kind = string.match(record, '^([12])(%d+) (%S+) (%S*) ')
    local j = parsed[id]
    if not j or state[id] then
        return 'a job that is aside is in no other state'
    end
    if not why or #since ~= 18 or place ~= j.priority .. pad(j.due, 18) .. pad(j.seq, 16) .. id then
        return 'a job that is aside has its place'
    end
    kind = why .. kind .. ' '
    if not redis.call('ZSCORE', base .. 'aside_place', kind .. place)
        or not redis.call('ZSCORE', base .. 'aside_age', kind .. since .. id)
        or not redis.call('ZSCORE', base .. 'aside_due', string.sub(place, 2) .. j.priority) then
        return 'a job that is aside is found by its place, its age and its due'
    end
    state[id] = '1'
    aside_count = aside_count + 1
end
for _, set in ipairs({'aside_place', 'aside_age', 'aside_due'}) do
    if redis.call('ZCARD', base .. set) ~= aside_count then
        return 'a member of ' .. set .. ' has a job that is aside'
    end
end
local function is_unexpected(expires)
    local expected = redis.call('HGET', base .. 'state', 'next_expiry')
    return not expected or expires < expected
end
local function has_traces(id)
    return redis.call('EXISTS', base .. 'detail:' .. id, base .. 'runs:' .. id) > 0
end
for id, lease in pairs(leases) do
    local j = parsed[id]
    if not j then
        return 'a lease has a job'
    end
    if state[id] then
        return 'a running job is in no other state'
    end
    state[id] = '3'
    local mode = string.sub(lease, 1, 1)
    local expires, execution, cancel = string.match(lease, '^(%d+) (%d+) %d+ %d+ (%d+) ', 22)
    if not expires or #expires ~= 18 then
        return 'a lease can be read'
    end
    if tonumber(execution) ~= (tonumber(j.executions) or 0) + 1 then
        return 'a lease counts one execution more than its job'
    end
    if is_unexpected(expires) then
        return 'no lease ends before its queue expects it'
    end
    if string.lower(mode) == 'p' and (j.mode ~= mode or cancel ~= '0' or has_traces(id)) then
        return 'a lease without traces has none'
    end
end
local batch_ids, ids_count = all('batch_ids')
local batches, batch_count = all('batch')
if batch_count ~= ids_count then
    return 'ids of a batch have a batch'
end
for name, text in pairs(batches) do
    local expires, count, open, pool_length, at = string.match(text, '^(%d+) %d+ (%d+) (%d+) %d+ (%d+) ()')
    local ids = batch_ids[name]
    if not expires or #expires ~= 18 or not ids or #ids ~= 36 * count
        or #text - at - pool_length + 1 ~= math.ceil(count / 8) then
        return 'a batch can be read'
    end
    if is_unexpected(expires) then
        return 'no batch ends before its queue expects it'
    end
    local found = 0
    for i = 0, count - 1 do
        local eight = string.byte(text, at + pool_length + math.floor(i / 8))
        if math.floor(eight / 2 ^ (i % 8)) % 2 == 1 then
            local id = string.sub(ids, 36 * i + 1, 36 * i + 36)
            if not parsed[id] or parsed[id].mode ~= 'p' or has_traces(id) then
                return 'a lease in a batch is that of a plain job'
            end
            if state[id] then
                return 'a job of a batch is in no other state'
            end
            state[id] = '3'
            found = found + 1
        end
    end
    if found == 0 or found ~= tonumber(open) then
        return 'a batch knows how many leases it has, and is gone with the last'
    end
end
for id in pairs(ends) do
    if not jobs[id] or not state[id] or state[id] < '5' then
        return 'an end has an ended job'
    end
end
local ids, broken = members_of('ids')
local listed = {}
for _, id in ipairs(ids or {}) do
    listed[id] = true
end
for id in pairs(jobs) do
    if not state[id] then
        return 'a job is in some state'
    end
    if ids and not listed[id] then
        return 'a job is listed'
    end
end
if not ids or #ids ~= job_count then
    return broken or 'a listed id has a job'
end

for id, j in pairs(parsed) do
    if j.key ~= '' then
        local pair = keyed[j.key] or ''
        local waiting, running = string.sub(pair, 1, 36), string.sub(pair, 37)
        if state[id] < '5' and state[id] ~= '3' and waiting ~= id then
            return 'the key knows the job that waits with it'
        end
        if state[id] == '3' and running ~= id then
            return 'the key knows the job that runs with it'
        end
    elseif state[id] == '2' then
        return 'a job without key is never blocked'
    end
end
for key, pair in pairs(keyed) do
    local waiting, running = string.sub(pair, 1, 36), string.sub(pair, 37)
    local none = string.rep('-', 36)
    if waiting == none and running == none then
        return 'a key names a job'
    end
    if waiting ~= none and (not parsed[waiting] or parsed[waiting].key ~= key
        or state[waiting] >= '5' or state[waiting] == '3') then
        return 'a key names a job that waits'
    end
    if running ~= none and (not parsed[running] or parsed[running].key ~= key
        or state[running] ~= '3') then
        return 'a key names a job that runs'
    end
    if waiting ~= none and (state[waiting] == '2') ~= (running ~= none) then
        return 'the job that waits with a key is blocked while another runs, and only then'
    end
end

for _, key in ipairs(redis.call('KEYS', string.gsub(base, '[%[%]*?\\]', '\\%0') .. '*')) do
    local id = string.match(key, ':detail:(.*)$') or string.match(key, '}:runs:(.*)$')
    if id and not jobs[id] then
        return 'details and runs have a job'
    end
end
for _, id in ipairs(redis.call('ZRANGE', base .. 'failed', 0, -1)) do
    if not jobs[id] or redis.call('HEXISTS', base .. 'detail:' .. id, 'failed_at') == 0 then
        return 'a failure has a job that failed'
    end
end
if redis.call('ZCARD', base .. 'idempotency_expiry') ~= idempotency_count
    or redis.call('ZCARD', base .. 'idempotency_ids') ~= idempotency_count then
    return 'a record of an idempotency key is found by its end and by its id'
end
for key, record in pairs(idempotency) do
    if not redis.call('ZSCORE', base .. 'idempotency_expiry', string.sub(record, 37) .. key)
        or not redis.call('ZSCORE', base .. 'idempotency_ids', string.sub(record, 1, 36) .. key) then
        return 'a record of an idempotency key is found by its end and by its id'
    end
end
return false
