-- A job comes in. Looked at in this order: the record of its idempotency key, its id, its key.
--
-- An arrival is what the client says of a job: how ('p', 't', 'P' or 'T', the mode of the record, then
-- 's' for a job without keys or 'k', then maybe 'g' for an id that a producer chose), id, body (the record from the priority on), payload when it is
-- outside, and when the record of the idempotency key ends.

local function next_seq(q)
    if not q.seq then
        q.seq = take_seq(q, q.expected or 1)
    end
    q.seq = q.seq + 1
    return text_of(q.seq)
end

local function idempotency_find(q, key, now)
    local record = key ~= '' and call('HGET', q.idempotency, key)
    if record and is_id(sub(record, 1, 36)) and sub(record, 37) > now then
        return sub(record, 1, 36)
    end
end

local function idempotency_forget(q, key, record)
    if not is_id(sub(record, 1, 36)) or not is_moment(sub(record, 37)) then
        note_damage(q, 'idempotency', key, record)
    end
    call('ZREM', q.idempotency_expiry, sub(record, 37) .. key)
    call('ZREM', q.idempotency_ids, sub(record, 1, 36) .. key)
    call('HDEL', q.idempotency, key)
end

local function idempotency_put(q, key, id, expires)
    if key == '' then
        return
    end
    local before = call('HGET', q.idempotency, key)
    if before then
        idempotency_forget(q, key, before)
    end
    expires = moment(expires)
    call('HSET', q.idempotency, key, id .. expires)
    call('ZADD', q.idempotency_expiry, 0, expires .. key)
    call('ZADD', q.idempotency_ids, 0, id .. key)
end

local function answer_existing(q, id)
    local j = standing(q, id)
    return 'e' .. (j and j.state or DONE) .. id
end

-- The twin that a newcomer with this key would meet, and the id of the one that runs.
local function twin_of(q, key)
    local waiter, runner = twins_find(q, key)
    return waiter or runner, runner and runner.id
end

local function is_of_other_type(twin, j)
    return twin.type ~= j.type and not twin.broken
end

local function place_arrival(q, j, now)
    place_add(q, j)
    if j.state == SCHEDULED and is_due_soon(j.due, now) then
        q.rings = true
    end
end

local function update_waiting(q, waiting, newcomer, expires, now)
    local flags = tonumber(newcomer.flags)
    waiting.member = member_of(waiting)
    local moved = merge(q, waiting, newcomer, flags)
    place_remove(q, waiting)
    waiting.member, waiting.aside = nil, nil
    if waiting.state == BLOCKED then
        waiting.flags = text_of(flags_join(tonumber(waiting.flags), flags))
    else
        waiting.flags = newcomer.flags
        if moved then
            waiting.state = state_when_due(waiting.due, now)
        end
    end
    job_write(q, waiting)
    place_arrival(q, waiting, now)
    idempotency_put(q, newcomer.idempotency_key, waiting.id, expires)
    return 'u' .. waiting.state .. waiting.id
end

local function is_given(a)
    return sub(a.how, 3, 3) == 'g'
end

local function arrival_parse(a)
    local j = job_parse(a.id, sub(a.how, 1, 1) .. ' 0 ' .. a.body)
    j.long_payload = a.payload
    return j
end

local function add_job(q, j, a, running, now)
    j.seq = next_seq(q)
    j.state = running and BLOCKED or state_when_due(j.due, now)
    if q.added then
        q.added[#q.added + 1] = j.id
    end
    job_write(q, j)
    if j.outside then
        call('HSET', q.payload, j.id, a.payload)
    end
    call('ZADD', q.ids, 0, j.id)
    extras.enter_tags(q, j)
    place_arrival(q, j, now)
    if join_is_due(tonumber(j.seq) - 1, 1) then
        join(q.ids, :REDIS_ID_WIDTH, j.id)
        if j.state == READY then
            join(q.ready, :REDIS_READY_WIDTH, member_of(j))
        end
    end
    if j.key ~= '' then
        twins_store(q, j.key, j.id, running)
    end
    idempotency_put(q, j.idempotency_key, j.id, a.expires)
    return j.state
end

-- Answers as the script does, or nil and the twin whose type is another one.
local function arrive(q, a, now)
    local j = arrival_parse(a)
    local found = idempotency_find(q, j.idempotency_key, now)
    if found then
        return answer_existing(q, found)
    end
    if call('HEXISTS', q.job, j.id) == 1 then
        return answer_existing(q, j.id)
    end
    local other = is_given(a) and queue_elsewhere(q, j.id)
    if other then
        return answer_existing(other, j.id)
    end
    local running
    if j.key ~= '' then
        local twin
        twin, running = twin_of(q, j.key)
        if twin and is_of_other_type(twin, j) then
            return nil, twin
        end
        if twin and twin.state ~= RUNNING then
            return update_waiting(q, twin, j, a.expires, now)
        end
    end
    return add_job(q, j, a, running, now)
end
