#!lua flags=no-writes
-- Jobs with all that is known of them.
--
-- KEYS: base and state of the queue. ARGV: how much ('all', or 'brief' for no payload, runs and output), ids.
-- Answers eight for each job that is there: id, state, record, lease, end, detail, runs, and of one that is
-- aside why, since when and the error.
-- parts: base record pages place batch standing

local q = queue_of(KEYS[1])
local all = ARGV[1] == 'all'
local answer = {}

-- A key of another type has nothing to say.
local function read_from(...)
    local found = redis.pcall(...)
    return found.err and {} or found
end

for i = 2, #ARGV do
    local id = ARGV[i]
    local record = call('HGET', q.job, id)
    if record then
        local j = standing(q, id)
        local mode = sub(record, 1, 1)
        if all and (mode == 'P' or mode == 'T') then
            record = with_payload(q, id, record)
        end
        local n = #answer
        answer[n + 1], answer[n + 2], answer[n + 3] = id, j.state, record
        answer[n + 4] = j.state == RUNNING and (call('HGET', q.lease, id) or lease_text(j)) or ''
        answer[n + 5] = call('HGET', q.ended, id) or ''
        answer[n + 6] = read_from('HGETALL', q.detail .. id)
        answer[n + 7] = all and read_from('LRANGE', q.runs .. id, 0, -1) or {}
        answer[n + 8] = j.aside and {j.aside.why, j.aside.since, j.aside.error} or {}
    end
end
return answer
