-- api.lua - what api_bench.py has wrk say to the API: a way, and what it takes, after "--".
--
--     post BODY       that body, again and again
--     work            a worker for each thread: claims a job, completes it, and again
--     get             nothing but the URL
--
-- In the end it prints a line of JSON: what was done per second, in requests or in jobs that were completed; how many
-- answers were errors; how many requests had none; the time in milliseconds that 99 of 100 answers did not exceed.

local threads = {}

function setup(thread)
    table.insert(threads, thread)
    thread:set("number", #threads)
end

local function work()
    local claim = string.format('{"worker": "bench-%d"}', number)
    local id, token

    completed = 0
    function request()
        if not id then
            return wrk.format(nil, "/api/claim", nil, claim)
        end
        return wrk.format(nil, "/api/jobs/" .. id .. "/complete", nil, '{"lease_token": "' .. token .. '"}')
    end
    function response(status, _, body)
        if id and status == 200 then
            completed = completed + 1
        end
        token = not id and body:match('"lease_token":"([^"]+)"')
        id = token and body:match('"id":"([^"]+)"')
    end
end

function init(arguments)
    if arguments[1] == "get" then
        return
    end
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    wrk.body = arguments[2]
    if arguments[1] == "work" then
        work()
    end
end

function done(summary, latency)
    local errors, count = summary.errors, nil

    for _, thread in ipairs(threads) do
        local completed = thread:get("completed")
        count = completed and (count or 0) + completed
    end
    print(string.format('{"rate": %.1f, "errors": %d, "lost": %d, "p99": %.3f}',
                        (count or summary.requests - errors.status) / (summary.duration / 1e6), errors.status,
                        errors.connect + errors.read + errors.write + errors.timeout,
                        latency:percentile(99) / 1e3))
end
