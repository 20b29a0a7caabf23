#!lua flags=allow-oom
-- Takes back leases that ran out.
--
-- KEYS: base and state of the queue. ARGV: now, whether that follows this server's clock, how many
-- at most. Answers how many, and whether there may be more.
-- parts: base damage record pages place batch standing ending twins leaving expiry reclaim

local q = queue_of(KEYS[1])
local moved, more = reclaim(q, over_at(ARGV[1], ARGV[2]), tonumber(ARGV[3]))
announce_vacancy(q)
if q.rings then
    ring(q)
end
return {moved, more and 1 or 0}
