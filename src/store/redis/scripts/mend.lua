#!lua flags=allow-oom
-- Keys that are of another type than ours were damaged by somebody: each gets another name, and all else goes on.
--
-- KEYS: of a command that met one: bases of queues, and single keys. Answers the names of those that were moved.

local TYPES = {
    job = 'hash', payload = 'hash', ids = 'zset', ids_pages = 'zset', ready = 'zset',
    ready_pages = 'zset', scheduled = 'zset', blocked = 'zset',
    aside = 'hash', aside_place = 'zset', aside_age = 'zset', aside_due = 'zset',
    retry = 'zset', lease = 'hash', batch = 'hash', batch_ids = 'hash', ended = 'hash', done = 'zset', dead = 'zset', cancelled = 'zset',
    failed = 'zset', keyed = 'hash', idempotency = 'hash', idempotency_expiry = 'zset',
    idempotency_ids = 'zset', cron = 'hash', state = 'hash', damaged = 'hash', damage_news = 'list',
    tags = 'zset', queues = 'set', pool = 'hash', beat = 'zset',
}
local moved = {}

local function mend(key, expected)
    local found = redis.call('TYPE', key).ok
    if expected and found ~= 'none' and found ~= expected then
        redis.call('RENAME', key, key .. ':damaged')
        moved[#moved + 1] = key
    end
end

for _, key in ipairs(KEYS) do
    if string.match(key, '}:$') then
        for name, expected in pairs(TYPES) do
            mend(key .. name, expected)
        end
    else
        mend(key, TYPES[string.match(key, '[^:]*$')])
    end
end
return moved
