-- Leases of plain jobs that one reserve has given together: one record for all of them, not one for each.
--
--   batch      hash, by the batch token (16 bytes): EXPIRES_AT (18 digits) FIRST COUNT OPEN STARTED_AT POOL_LENGTH pool,
--              then a bit for each index from FIRST on, the lowest of a byte first: whether that lease is there
--   batch_ids  hash, by the batch token: the ids of these indexes, 36 bytes each
--
-- A token is a batch token and an index: it leads to the place of its lease. OPEN is how many are there. Who wants to
-- change a lease writes it into `lease`, with the same token, and the others stay together. Who has no token looks for
-- the id. If a script fails half-way a job may have both: then that in `lease` counts.

local BATCH_MOST = 4096 -- indexes
local ID_LENGTH = 36
local NO_ID = string.rep('-', ID_LENGTH)

local floor = math.floor
local BIT = {[0] = 1, 2, 4, 8, 16, 32, 64, 128}

local batch = {} -- of functions: a script can have no more than 200 names

-- False when it cannot be read.
function batch.read_head(text)
    local expires, first, count, open, started_at, pool_length, at =
        match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ()')
    if not is_moment(expires) then
        return false
    end
    local bits_at = at + pool_length
    return {expires_at = expires, first = tonumber(first), count = tonumber(count), open = tonumber(open),
        started_at = started_at, pool = sub(text, at, bits_at - 1), bits = sub(text, bits_at)}
end

function batch.read(name, text, ids)
    local b = batch.read_head(text)
    if not b or #b.bits ~= math.ceil(b.count / 8) or #ids ~= b.count * ID_LENGTH then
        return false
    end
    b.name, b.ids, b.bits = name, ids, {string.byte(b.bits, 1, -1)}
    return b
end

-- What this script knows of it already, or reads now; false when it is not there or cannot be read.
function batch.load(q, name)
    local b = q.batches[name]
    if b == nil then
        local text = call('HGET', q.batch, name)
        b = text and batch.read(name, text, call('HGET', q.batch_ids, name) or '') or false
        q.batches[name] = b
    end
    return b
end

function batch.id_at(b, place)
    return sub(b.ids, ID_LENGTH * (place - 1) + 1, ID_LENGTH * place)
end

function batch.is_open(b, place)
    local eight = b.bits[floor((place - 1) / 8) + 1]
    return eight ~= nil and floor(eight / BIT[(place - 1) % 8]) % 2 == 1
end

-- Whether the lease in this place is there, and that of this job.
function batch.holds(b, place, id)
    return place > 0 and batch.is_open(b, place) and batch.id_at(b, place) == id
end

-- The same for so many of them.
function batch.holds_all(b, place, count, ids)
    if place < 1 or sub(b.ids, ID_LENGTH * (place - 1) + 1, ID_LENGTH * (place + count - 1)) ~= ids then
        return false
    end
    for at = place, b.open < b.count and place + count - 1 or 0 do
        if not batch.is_open(b, at) then
            return false
        end
    end
    return true
end

function batch.find(q, token, id)
    local b = batch.load(q, sub(token, 1, 16))
    local place = b and struct.unpack('>I4', token, 17) - b.first + 1
    if b and batch.holds(b, place, id) then
        return b, place
    end
end

-- The same without a token: slow when many run, so it is asked last.
function batch.search(q, id)
    q.batch_ids_read = q.batch_ids_read or call('HGETALL', q.batch_ids)
    local all = q.batch_ids_read
    for i = 1, #all, 2 do
        local at = find(all[i + 1], id, 1, true)
        local b = at and at % ID_LENGTH == 1 and batch.load(q, all[i])
        local place = b and (at - 1) / ID_LENGTH + 1
        if place and batch.is_open(b, place) then
            return b, place
        end
    end
end

-- The job's lease as the record in `lease` would say it.
function batch.lend(j, b, place)
    j.batch, j.place, j.state, j.mode = b, place, RUNNING, 'p'
    j.token = b.name .. struct.pack('>I4', b.first + place - 1)
    j.expires_at, j.executions, j.started_at, j.pool = b.expires_at, '1', b.started_at, b.pool
    j.worker, j.cancel_requested_at = '0', '0'
end

-- How many leases there are in batches.
function batch.count_open(q)
    local count = 0
    for _, text in ipairs(call('HVALS', q.batch)) do
        local b = batch.read_head(text)
        count = count + (b and b.open or 0)
    end
    return count
end

-- Calls see(id, b, place) for each lease that is there.
function batch.each_open(b, see)
    for place = 1, b.count do
        if batch.is_open(b, place) then
            see(batch.id_at(b, place), b, place)
        end
    end
end

function batch.write(q, b)
    if b.open <= 0 then
        call('HDEL', q.batch, b.name)
        call('HDEL', q.batch_ids, b.name)
        return
    end
    call('HSET', q.batch, b.name, table.concat({b.expires_at, b.first, b.count, b.open, b.started_at, #b.pool, ''},
        ' ') .. b.pool .. string.char(unpack(b.bits)))
end

-- Nothing is written yet.
function batch.clear(b, place)
    local at = floor((place - 1) / 8) + 1
    b.bits[at] = b.bits[at] - BIT[(place - 1) % 8]
    b.open = b.open - 1
end

function batch.close(q, b, place)
    batch.clear(b, place)
    batch.write(q, b)
end

-- A lease has a record of its own from now on.
local function lease_write(q, j)
    call('HSET', q.lease, j.id, lease_text(j))
    if j.batch then
        batch.close(q, j.batch, j.place)
        j.batch = nil
    end
end
