-- What became of the jobs that were handed out.
--
-- A settlement is told in one of three ways: the end record that an ack of a plain job leaves; 'F' for
-- such an ack when nothing is kept; or a packed list of all there is to say.

local OUTCOME_OF = {[ACK] = ':RUN_DONE', [TRY_AGAIN] = ':RUN_RETRY', [FAIL] = ':RUN_DEAD', [RELEASE] = ':RUN_RELEASED',
    [SNOOZE] = ':RUN_SNOOZED', [CANCEL] = ':RUN_CANCELLED', [ASIDE] = ':RUN_RELEASED'}

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
    if s.reason ~= ':REASON_NONE' then
        call('HSET', key, 'reason', s.reason)
    end
    if s.run and s.run.exit_code ~= ':JOB_NO_EXIT_CODE' then
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
        write_traces(q, j, s, OUTCOME_OF[state == CANCELLED and CANCEL or s.kind], now)
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
        s.reason = ':REASON_NONE'
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
    local j = standing(q, id, token)
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

-- The short way: acks of plain jobs whose lease is as expected, written together. Leases go last.
local function plain_none()
    return {ids = {}, ends = {}, done = {}, forgotten = {}, outside = {}, leased = {}, batches = {}}
end

local function settle_plain_all(q, plain)
    if #plain.ids == 0 then
        return
    end
    each_2000('HSET', q.ended, plain.ends)
    each_2000('ZADD', q.done, plain.done)
    each_2000('HDEL', q.job, plain.forgotten)
    pages.remove(q, 'ids', plain.forgotten)
    each_2000('HDEL', q.payload, plain.outside)
    each_2000('HDEL', q.lease, plain.leased)
    for b in pairs(plain.batches) do
        batch.write(q, b)
    end
    q.left = true
    q.done_count = (q.done_count or 0) + #plain.ids
    for i = 1, is_awaited(q) and #plain.ids or 0 do
        tell_reader(q, plain.ids[i], DONE)
    end
end

-- A run is acks of plain jobs whose tokens follow each other: 'F' when they are forgotten or 'K', how many, the batch
-- token, the index of the first, the ids; then, unless they are forgotten, the end of each.
local function run_read(at)
    local keeps, count = ARGV[at] == 'K', tonumber(ARGV[at + 1])
    return {keeps = keeps, count = count, name = ARGV[at + 2], index = tonumber(ARGV[at + 3]), first = at + 4,
        behind = at + 4 + (keeps and 2 or 1) * count}
end

local function plain_add(plain, run, i, score)
    local id = ARGV[run.first + i - 1]
    plain.ids[#plain.ids + 1] = id
    if not run.keeps then
        plain.forgotten[#plain.forgotten + 1] = id
        return
    end
    local ends, done = plain.ends, plain.done
    local n = #done
    ends[n + 1], ends[n + 2] = id, ARGV[run.first + run.count + i - 1]
    done[n + 1], done[n + 2] = score, id
end

-- Answers the numbers of those that are not in their batch.
local function settle_in_batch(run, b, plain, score)
    local rest = {}
    local place = b and run.index - b.first + 1
    local is_whole = b and batch.holds_all(b, place, run.count, table.concat(ARGV, '', run.first, run.first + run.count - 1))
    for i = 1, run.count do
        if is_whole or b and batch.holds(b, place + i - 1, ARGV[run.first + i - 1]) then
            batch.clear(b, place + i - 1)
            plain_add(plain, run, i, score)
        else
            rest[#rest + 1] = i
        end
    end
    if #rest < run.count then
        plain.batches[b] = true
    end
    return rest
end

local function leases_of(q, run, rest)
    local leases = {}
    for from = 1, #rest, 2000 do
        local ids = {}
        for i = from, math.min(from + 1999, #rest) do
            ids[#ids + 1] = ARGV[run.first + rest[i] - 1]
        end
        for i, lease in ipairs(call('HMGET', q.lease, unpack(ids))) do
            leases[from + i - 1] = lease
        end
    end
    return leases
end

-- Whether a lease is this one, holds, and has left no traces.
local function is_plain_lease(lease, token, now)
    return lease and find(lease, '^[pP]') and find(lease, token, 2, true) == 2 and sub(lease, 22, 39) > now
end

-- Answers a verdict for each, and what is to be written yet.
local function settle_run(q, run, plain, seen, now)
    local b, score, verdicts = batch.load(q, run.name), text_of(tonumber(now)), {}
    local rest = settle_in_batch(run, b and b.expires_at > now and b, plain, score)
    if #rest == 0 then
        return string.rep(OK, run.count), plain
    end
    for i = 1, run.count do
        verdicts[i] = OK
    end
    local leases = leases_of(q, run, rest)
    for n, i in ipairs(rest) do
        local id, token = ARGV[run.first + i - 1], run.name .. struct.pack('>I4', run.index + i - 1)
        if not seen[id] and is_plain_lease(leases[n], token, now) then
            plain_add(plain, run, i, score)
            plain.leased[#plain.leased + 1] = id
            if not run.keeps and sub(leases[n], 1, 1) == 'P' then
                plain.outside[#plain.outside + 1] = id
            end
        else
            settle_plain_all(q, plain)
            plain = plain_none()
            verdicts[i] = settle(q, id, token, run.keeps and ARGV[run.first + run.count + i - 1] or 'F', now)
        end
        seen[id] = true
    end
    return table.concat(verdicts), plain
end

-- So many settlements, from ARGV[at] on: runs, or 'S' with the id, the token, and all there is to say. Answers a
-- verdict for each, and what is behind them.
local function settle_all(q, at, count, now)
    local verdicts, heard, seen, plain = {}, 0, {}, plain_none()
    while heard < count do
        local verdict
        if ARGV[at] == 'S' then
            settle_plain_all(q, plain)
            plain = plain_none()
            verdict = settle(q, ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], now)
            at = at + 4
        else
            local run = run_read(at)
            verdict, plain = settle_run(q, run, plain, seen, now)
            at = run.behind
        end
        verdicts[#verdicts + 1] = verdict
        heard = heard + #verdict
    end
    settle_plain_all(q, plain)
    if q.done_count then
        count_up(q, 'done_total', q.done_count)
    end
    if q.failed_count then
        count_up(q, 'failed_total', q.failed_count)
    end
    return table.concat(verdicts), at
end
