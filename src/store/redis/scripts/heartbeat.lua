#!lua flags=allow-oom
-- Extends the leases that a pool holds of one queue, with what their executions have to tell.
--
-- KEYS: base and state of the queue. ARGV: now, whether that follows this server's clock, end of the
-- leases, six for each: id, token, worker or 0, percent or -1, text, output. Text and output begin with '=' when they are there.
-- Answers one character for each: its verdict, or when it was extended also whether it is asked to cancel,
-- or somebody watches it, or both.
-- parts: base damage record pages place batch standing expiry

local q = queue_of(KEYS[1])
local now, over, expires = ARGV[1], over_at(ARGV[1], ARGV[2]), ARGV[3]
local answers = {}
local is_anybody_there = call('TYPE', q.watch).ok == 'hash'

local function tell(id, percent, text, output)
    local key = q.detail .. id
    if percent ~= '-1' then
        write_progress(q, id, percent, text ~= '' and sub(text, 2))
    end
    if output ~= '' then
        write_to(q, 'HSET', key, 'output', sub(output, 2))
    end
end

local function verdict_on(j, token)
    if not j then
        return NOT_FOUND
    elseif j.state ~= RUNNING then
        return NOT_RUNNING
    elseif moment(j.expires_at) <= over then
        return EXPIRED
    elseif j.token ~= token then
        return MISMATCH
    end
    return OK
end

local function beat(at)
    local id, token, worker = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    local percent, text, output = ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
    local lease = call('HGET', q.lease, id)
    local j = {id = id}
    if lease then
        lease_read(j, lease)
    else
        j = standing(q, id, token)
    end
    local verdict = verdict_on(j, token)
    if verdict ~= OK then
        return verdict
    end
    j.expires_at = expires
    if worker ~= '0' then
        j.worker = worker
    end
    if percent ~= '-1' or output ~= '' then
        tell(id, percent, text, output)
        j.mode = 't'
    end
    lease_write(q, j)
    local until_ = is_anybody_there and call('HGET', q.watch, id)
    local watched = until_ and until_ > now
    if j.cancel_requested_at ~= '0' then
        return watched and :REDIS_SAYS_BOTH or :REDIS_SAYS_CANCELLING
    end
    return watched and :REDIS_SAYS_WATCHED or OK
end

expect_expiry(q, expires)
for at = 4, #ARGV, 6 do
    answers[#answers + 1] = beat(at)
end
return table.concat(answers)
