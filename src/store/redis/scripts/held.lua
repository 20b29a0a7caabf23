#!lua flags=no-writes
-- The running jobs of a pool, a part at a time: first those whose leases are in batches, because whoever takes one out
-- meanwhile puts it among the others.
--
-- KEYS: base and state of the queue. ARGV: pool, cursor ('b0' to begin with). Answers the next cursor ('0' when it is
-- over), then three for each job: id, lease, record.
-- parts: base record batch

local q = queue_of(KEYS[1])
local pool, kind, cursor = ARGV[1], sub(ARGV[2], 1, 1), sub(ARGV[2], 2)
local answer = {}

local function add(id, lease)
    local record = call('HGET', q.job, id)
    if record then
        if match(record, '^[PT]') then
            record = with_payload(q, id, record)
        end
        local n = #answer
        answer[n + 1], answer[n + 2], answer[n + 3] = id, lease, record
    end
end

local function add_batch(name)
    local b = batch.load(q, name)
    if b and b.pool == pool then
        batch.each_open(b, function(id, _, place)
            local j = {}
            batch.lend(j, b, place)
            add(id, lease_text(j))
        end)
    end
end

local function add_lease(id, lease)
    local l = {}
    lease_read(l, lease)
    if l.pool == pool then
        add(id, lease)
    end
end

local is_batches = kind == 'b'
local page = call('HSCAN', is_batches and q.batch or q.lease, cursor, 'COUNT', is_batches and 4 or 500)
local behind = is_batches and 'l0' or '0'
answer[1] = page[1] == '0' and behind or kind .. page[1]
for i = 1, #page[2], 2 do
    if is_batches then
        add_batch(page[2][i])
    else
        add_lease(page[2][i], page[2][i + 1])
    end
end
return answer
