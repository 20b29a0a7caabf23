-- How many jobs of a queue may start: live leases are counted, and starts are paid for as
-- src/job/rate.c says, in whole microseconds. All products fit into 52 bits.

local function divide(dividend, divisor)
    return (dividend - math.fmod(dividend, divisor)) / divisor
end

local function divide_up(dividend, divisor)
    return divide(dividend, divisor) + (math.fmod(dividend, divisor) ~= 0 and 1 or 0)
end

local function rate_of(count, period)
    local burst = math.max(divide(count * 1000000, period), 1)
    return {count = count, period = period, burst = burst,
        believable = divide_up(burst * period, count) + 1000000,
        excess = math.fmod(period, count) ~= 0 and 1 or 0}
end

local function rate_ahead(rate, spent_until, now)
    if spent_until <= now or spent_until - now > rate.believable then
        return 0
    end
    return spent_until - now
end

local function rate_allows(rate, spent_until, now)
    local ahead = rate_ahead(rate, spent_until, now)
    if ahead == 0 then
        return rate.burst
    end
    return math.max(rate.burst - divide_up((ahead - rate.excess) * rate.count, rate.period), 0)
end

local function rate_spend(rate, spent_until, now, starts)
    return now + rate_ahead(rate, spent_until, now) + divide_up(starts * rate.period, rate.count)
end

local function rate_next(rate, spent_until, now)
    local ahead = rate_ahead(rate, spent_until, now)
    local free = divide((rate.burst - 1) * rate.period, rate.count) + rate.excess
    return ahead > free and now + ahead - free or now
end
