#!lua flags=allow-oom
-- A scheduled or retry job is ready, as if it had been enqueued for now; its counts stay. A ready one stays as it is.
--
-- KEYS: base and state of the queue. ARGV: now, ids. Answers a verdict for each.
-- parts: base damage record pages place batch standing

local q = queue_of(KEYS[1])
local now = ARGV[1]
local answers = {}

local function run(id)
    local j = standing(q, id)
    if not j then
        return NOT_FOUND
    elseif j.state == READY then
        return OK
    elseif j.state ~= SCHEDULED and j.state ~= RETRY then
        return CONFLICT
    end
    place_remove(q, j)
    j.run_at = '0'
    j.due = text_of(tonumber(now))
    j.state = READY
    job_write(q, j)
    place_add(q, j)
    return OK
end

for i = 2, #ARGV do
    answers[#answers + 1] = run(ARGV[i])
end
if q.rings then
    ring(q)
end
return table.concat(answers)
