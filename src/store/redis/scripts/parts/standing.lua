-- All that a change of state needs to know of a stored job: nil when there is none.

local function waiting_state(q, j)
    if call('ZSCORE', q.ready, ready_member(j)) then
        return READY
    end
    local member = waiting_member(j)
    for _, state in ipairs({SCHEDULED, RETRY, BLOCKED}) do
        if call('ZSCORE', q[SET_OF[state]], member) then
            return state
        end
    end
    return SCHEDULED
end

local function standing(q, id)
    local record = call('HGET', q.job, id)
    if not record then
        return nil
    end
    local j = job_parse(id, record)
    j.worker, j.started_at, j.cancel_requested_at, j.pool, j.ended_by = '0', '0', '0', '', '-1'
    local lease = call('HGET', q.lease, id)
    if lease then
        lease_read(j, lease)
        return j
    end
    local ended = call('HGET', q.ended, id)
    if ended then
        end_read(j, ended)
        return j
    end
    j.state = waiting_state(q, j)
    return j
end
