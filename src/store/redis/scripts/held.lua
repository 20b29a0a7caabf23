#!lua flags=no-writes
-- The running jobs of a pool, a part at a time.
--
-- KEYS: base and state of the queue. ARGV: pool, cursor. Answers the next cursor ('0' when it is over), then
-- three for each job: id, lease, record.
-- parts: base record

local q = queue_of(KEYS[1])
local page = call('HSCAN', q.lease, ARGV[2], 'COUNT', 500)
local answer = {page[1]}
local leases = page[2]

for i = 1, #leases, 2 do
    local id, lease, l = leases[i], leases[i + 1], {}
    lease_read(l, lease)
    local record = l.pool == ARGV[1] and call('HGET', q.job, id)
    if record then
        if match(record, '^[PT]') then
            record = with_payload(q, id, record)
        end
        answer[#answer + 1] = id
        answer[#answer + 1] = lease
        answer[#answer + 1] = record
    end
end
return answer
