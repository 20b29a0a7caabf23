#!lua flags=allow-oom
-- A waiting job is cancelled; a running one is asked to stop.
--
-- KEYS: base and state of the queue. ARGV: now, ids. Answers a verdict for each.
-- parts: base damage record pages place batch standing ending twins

local q = queue_of(KEYS[1])
local now = ARGV[1]
local answers = {}

local function cancel(id)
    local j = standing(q, id)
    if not j then
        return NOT_FOUND
    elseif j.ended_at then
        return CONFLICT
    elseif j.state == RUNNING then
        if j.cancel_requested_at == '0' then
            j.cancel_requested_at = text_of(tonumber(now))
        end
        j.mode = 't'
        lease_write(q, j)
        return OK
    end
    place_remove(q, j)
    ending_write(q, j, CANCELLED, '-1', nil, nil, tonumber(now))
    twins_waiting_left(q, j)
    return OK
end

for i = 2, #ARGV do
    answers[#answers + 1] = cancel(ARGV[i])
end
return table.concat(answers)
