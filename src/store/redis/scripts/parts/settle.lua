-- What became of the jobs that were handed out.
--
-- A settlement is told in one of three ways: the end record that an ack of a plain job leaves; 'F' for
-- such an ack when nothing is kept; or a packed list of all there is to say.

local byte, find = string.byte, string.find
local PLAIN_END, PLAIN_FORGET = byte(DONE), byte('F')
local OUTCOME_OF = {['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '3'}

local function settlement_unpack(told)
    if told == 'F' then
        return {kind = ACK, counts = false, forget = true}
    end
    if sub(told, 1, 2) == DONE .. 'T' then
        local e = {}
        end_read(e, told)
        return {kind = ACK, counts = false, forget = false, run = {worker = e.worker,
            started_at = e.started_at, wall = e.wall, user = e.user, system = e.system,
            max_rss_kb = e.max_rss_kb, exit_code = e.exit_code, signal = '0'}}
    end
    local list = cmsgpack.unpack(told)
    local s = {
        kind = list[1], counts = list[2] == '1', forget = list[3] == '1', run_at = list[4],
        reason = list[5], error = list[6], result = list[7], output = list[8],
    }
    s.percent, s.text = list[27] or nil, list[28] or nil
    if list[9] == '1' then
        s.run = {worker = list[10], started_at = list[11], wall = list[12], user = list[13],
            system = list[14], max_rss_kb = list[15], exit_code = list[16], signal = list[17],
            error = list[18] or nil}
    end
    if list[19] then
        s.on_dead = {base = list[19], how = list[20], id = list[21], body = list[22],
            payload = list[23], expires = list[24]}
    end
    s.aside, s.aside_since = list[25], list[26]
    return s
end

-- What has run out, is somebody else's, or has ended: answered, and nothing is changed. What was never
-- started is given back by its token alone, also after the end of its lease.
local function judge(j, s, token, now)
    if j.ended_at then
        return j.ended_by == s.kind and j.token == token and OK or NOT_RUNNING
    elseif j.state ~= RUNNING then
        return NOT_RUNNING
    elseif moment(j.expires_at) <= now and (s.run or s.kind ~= RELEASE and s.kind ~= ASIDE) then
        return EXPIRED
    elseif j.token ~= token then
        return MISMATCH
    end
end

local function write_failure(q, j, s, now)
    local key = q.detail .. j.id
    write_to(q, 'HDEL', key, 'last_error', 'reason', 'exit_code', 'signal')
    call('HSET', key, 'failed_at', text_of(tonumber(now)))
    if s.error then
        call('HSET', key, 'last_error', s.error)
    end
    if s.reason ~= '0' then
        call('HSET', key, 'reason', s.reason)
    end
    if s.run and s.run.exit_code ~= '-1' then
        call('HSET', key, 'exit_code', s.run.exit_code)
    end
    if s.run and s.run.signal ~= '0' then
        call('HSET', key, 'signal', s.run.signal)
    end
    call('ZADD', q.failed, tonumber(now), j.id)
end

-- What is kept of the execution. The last run of a done job lies in its end record.
local function write_traces(q, j, s, outcome, now)
    if s.kind == TRY_AGAIN or s.kind == FAIL then
        write_failure(q, j, s, now)
    end
    if s.result then
        write_to(q, 'HSET', q.detail .. j.id, 'result', s.result)
    end
    if s.output then
        write_to(q, 'HSET', q.detail .. j.id, 'output', s.output)
    end
    if s.percent then
        write_progress(q, j.id, s.percent, s.text)
    end
    if s.run and s.kind ~= ACK then
        s.run.outcome = outcome
        record_run(q, j, s.run)
    end
end

local function end_job(q, j, s, state, now)
    leaving_end(q, j, state, s.kind, state == DONE and s.run or nil, now)
    if state == DONE and s.forget then
        call('ZREM', q.done, j.id)
        forget(q, {j.id})
    else
        write_traces(q, j, s, state == CANCELLED and '5' or OUTCOME_OF[s.kind], now)
    end
end

local function fail_job(q, j, s, now)
    end_job(q, j, s, DEAD, now)
    if s.on_dead then
        local other = s.on_dead.base == q.base and q or queue_of(s.on_dead.base)
        arrive(other, s.on_dead, now)
        if other ~= q and other.rings then
            ring(other)
        end
    end
end

local function return_job(q, j, s, later, now)
    local state = READY
    write_traces(q, j, s, OUTCOME_OF[s.kind], now)
    if s.kind == ASIDE then
        j.aside = {why = s.aside, since = moment(s.aside_since), error = s.error}
    elseif s.kind ~= RELEASE then
        j.run_at = s.run_at
        j.due = s.run_at ~= '0' and s.run_at or text_of(tonumber(now))
        if state_when_due(j.due, now) ~= READY then
            state = later
        end
    end
    leaving_return(q, j, state, now)
end

local function carry_out(q, j, s, now)
    if j.cancel_requested_at ~= '0' and s.kind ~= ACK then
        s.reason = '0'
        end_job(q, j, s, CANCELLED, now)
    elseif s.kind == ACK then
        end_job(q, j, s, DONE, now)
    elseif s.kind == FAIL then
        fail_job(q, j, s, now)
    elseif s.kind == CANCEL then
        end_job(q, j, s, CANCELLED, now)
    else
        return_job(q, j, s, s.kind == TRY_AGAIN and RETRY or SCHEDULED, now)
    end
end

local function settle(q, id, token, told, now)
    local j = standing(q, id)
    if not j then
        return NOT_FOUND
    end
    local s = settlement_unpack(told)
    local verdict = judge(j, s, token, now)
    if verdict then
        return verdict
    end
    if s.counts then
        j.attempts = text_of(j.attempts + 1)
        q.failed_count = (q.failed_count or 0) + 1
    end
    if s.kind == ACK then
        q.done_count = (q.done_count or 0) + 1
    end
    if s.run and s.run.worker ~= '0' then
        j.worker = s.run.worker
    end
    if s.run and s.run.started_at ~= '0' then
        j.started_at = s.run.started_at
    end
    carry_out(q, j, s, now)
    return OK
end

-- The short way: acks of plain jobs whose lease is as expected, written together.
local function settle_plain_all(q, plain, now)
    if #plain.ids == 0 then
        return
    end
    each_2000('HSET', q.ended, plain.ends)
    each_2000('ZADD', q.done, plain.done)
    each_2000('HDEL', q.lease, plain.ids)
    if #plain.forgotten > 0 then
        forget_plain(q, plain.forgotten)
    end
    q.left = true
    q.done_count = (q.done_count or 0) + #plain.ids
    for i = 1, is_awaited(q) and #plain.ids or 0 do
        tell_reader(q, plain.ids[i], DONE)
    end
end

local function plain_none()
    return {ids = {}, ends = {}, done = {}, forgotten = {}}
end

local function plain_add(plain, id, told, now)
    plain.ids[#plain.ids + 1] = id
    if told == 'F' then
        plain.forgotten[#plain.forgotten + 1] = id
        return
    end
    local ends, done = plain.ends, plain.done
    ends[#ends + 1] = id
    ends[#ends + 1] = told
    done[#done + 1] = now
    done[#done + 1] = id
end

-- Settlements are threes of id, 'p' and token, told; from ARGV[first] on.
local function settle_all(q, first, count, now)
    local ids, verdicts, seen, plain = {}, {}, {}, plain_none()
    if count == 0 then
        return ''
    end
    for i = 1, count do
        ids[i] = ARGV[first + 3 * (i - 1)]
    end
    local leases = {}
    for from = 1, count, 2000 do
        local part = call('HMGET', q.lease, unpack(ids, from, math.min(from + 1999, count)))
        for i, lease in ipairs(part) do
            leases[from + i - 1] = lease
        end
    end
    local score = text_of(tonumber(now))
    for i = 1, count do
        local at = first + 3 * (i - 1)
        local id, expected, told = ids[i], ARGV[at + 1], ARGV[at + 2]
        local lease = leases[i]
        -- Comparing in place makes no strings: this is done for nearly every job.
        local way = byte(told)
        if (way == PLAIN_END or way == PLAIN_FORGET) and lease and not seen[id]
            and find(lease, expected, 1, true) == 1 and sub(lease, 22, 39) > now then
            plain_add(plain, id, told, score)
            verdicts[i] = OK
        else
            settle_plain_all(q, plain, now)
            plain = plain_none()
            verdicts[i] = settle(q, id, sub(expected, 2), told, now)
        end
        seen[id] = true
    end
    settle_plain_all(q, plain, now)
    if q.done_count then
        count_up(q, 'done_total', q.done_count)
    end
    if q.failed_count then
        count_up(q, 'failed_total', q.failed_count)
    end
    return table.concat(verdicts)
end
