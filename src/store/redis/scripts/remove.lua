#!lua flags=allow-oom
-- Ended jobs go, and the records of their idempotency keys with them.
--
-- KEYS: base and state of the queue. ARGV: ids. Answers a verdict for each.
-- parts: base damage record pages join place batch standing ending twins elsewhere sequence arrival

local q = queue_of(KEYS[1])
local answers = {}

local function remove(id)
    local j = standing(q, id)
    if not j then
        return NOT_FOUND
    elseif not j.ended_at then
        return CONFLICT
    end
    for _, member in ipairs(call('ZRANGEBYLEX', q.idempotency_ids, '[' .. id, '[' .. id .. '\255')) do
        local key = sub(member, 37)
        local record = call('HGET', q.idempotency, key)
        if record and sub(record, 1, 36) == id then
            idempotency_forget(q, key, record)
        end
        call('ZREM', q.idempotency_ids, member)
    end
    call('ZREM', q[SET_OF[j.state]], id)
    forget(q, {id})
    return OK
end

for i = 1, #ARGV do
    answers[#answers + 1] = remove(ARGV[i])
end
return table.concat(answers)
