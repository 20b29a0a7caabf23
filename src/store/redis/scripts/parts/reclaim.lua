-- Leases that ran out, whoever held them.

-- Ready again at its old place with one stall more; or cancelled, if that was asked for.
local function take_back(q, j, now)
    if j.damaged_lease then
        note_damage(q, 'lease', j.id, j.damaged_lease)
        j.started_at = now
    end
    record_run(q, j, {outcome = ':RUN_STALLED', worker = j.worker, started_at = j.started_at,
        wall = text_of(math.max(now - j.started_at, 0)), user = '0', system = '0', max_rss_kb = '0',
        exit_code = ':JOB_NO_EXIT_CODE', signal = '0'})
    j.stalls = text_of(j.stalls + 1)
    if j.cancel_requested_at ~= '0' then
        leaving_end(q, j, CANCELLED, '-1', nil, now)
        return
    end
    j.run_at = '0'
    leaving_return(q, j, READY, now)
end

local function reclaim(q, now, limit)
    return each_expired(q, now, limit, take_back)
end
