-- The end of a job, and the end of what is kept of it.

-- Readers who wait for a job have marked it (producer/job.lua). While there is no mark, a script asks
-- once, however many jobs it ends.
local function is_awaited(q)
    if q.has_readers == nil then
        q.has_readers = call('EXISTS', q.readers) == 1
    end
    return q.has_readers
end

local function tell_reader(q, id, state)
    if is_awaited(q) and redis.pcall('SREM', q.readers, id) == 1 then
        call('PUBLISH', q.base .. 'end:' .. id, SET_OF[state])
    end
end

-- `by` is the kind of settlement or -1; `run` is what is kept of the last execution of a done job.
local function ending_write(q, j, state, by, run, merged_into, now)
    local r = run or {wall = '0', user = '0', system = '0', max_rss_kb = '0', exit_code = ':JOB_NO_EXIT_CODE'}
    call('HSET', q.ended, j.id, table.concat({state .. (j.token and 'T' .. j.token or '-' .. NO_TOKEN),
        by, j.executions, j.attempts, j.stalls, text_of(now), run and '1' or '0', j.worker,
        j.started_at, r.wall, r.user, r.system, r.max_rss_kb, r.exit_code, j.cancel_requested_at,
        merged_into or '-', j.pool}, ' '))
    if j.broken then -- it may have been ended before, and have kept its place
        for _, set in ipairs({q.done, q.dead, q.cancelled}) do
            call('ZREM', set, j.id)
        end
    end
    call('ZADD', q[SET_OF[state]], now, j.id)
    tell_reader(q, j.id, state)
end

-- Those that may have left more behind than their records. A plain job that was acked has not: its end says so.
local function traced_of(q, ids)
    local traced = {}
    for first = 1, #ids, 2000 do
        for i, ended in ipairs(call('HMGET', q.ended, unpack(ids, first, math.min(first + 1999, #ids)))) do
            if not ended or not find(ended, '^ 0 1 0 0 %d+ 2 ', 23) then
                traced[#traced + 1] = ids[first + i - 1]
            end
        end
    end
    return traced
end

local function forget_tags(q, ids)
    if #ids == 0 or call('ZCARD', q.tags) == 0 then
        return
    end
    for first = 1, #ids, 2000 do
        for i, record in ipairs(call('HMGET', q.job, unpack(ids, first, math.min(first + 1999, #ids)))) do
            if record then
                extras.leave_tags(q, job_parse(ids[first + i - 1], record))
            end
        end
    end
end

-- Everything but the records of idempotency keys, which have an end of their own. What most jobs or queues have none of
-- is not looked for a thousand times.
local function forget(q, ids)
    local traced = traced_of(q, ids)
    for _, id in ipairs(traced) do
        call('UNLINK', q.detail .. id, q.runs .. id)
    end
    if #traced > 0 and call('ZCARD', q.failed) > 0 then
        each_2000('ZREM', q.failed, traced)
    end
    forget_tags(q, traced)
    each_2000('HDEL', q.ended, ids)
    each_2000('HDEL', q.job, ids)
    pages.remove(q, 'ids', ids)
    if call('HLEN', q.payload) > 0 then
        each_2000('HDEL', q.payload, ids)
    end
end
