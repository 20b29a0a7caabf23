#!/usr/bin/env ruby
# A worker over HTTP, with the standard library alone: worker.rb [QUEUE...]
#
# TASKHARBOR_URL says where thd listens, TASKHARBOR_TOKEN has its token if there is one.
require "json"
require "net/http"
require "socket"

URL = ENV.fetch("TASKHARBOR_URL", "http://127.0.0.1:7460")
LEASE = 30 # seconds; a third of it passes between two heartbeats

HANDLERS = {
  "hello" => ->(job) { { greeting: "hello #{job["payload"]["name"]}" } }
}.freeze

# Status and answer. Whoever does not answer is asked again: every call may be repeated.
def call(path, body)
  headers = { "Content-Type" => "application/json" }
  headers["Authorization"] = "Bearer #{ENV["TASKHARBOR_TOKEN"]}" if ENV["TASKHARBOR_TOKEN"]
  loop do
    begin
      answer = Net::HTTP.post(URI(URL + path), JSON.generate(body), headers)
      status = answer.code.to_i
      return status, (JSON.parse(answer.body) if answer.body && !answer.body.empty?) unless [429, 503].include?(status)
    rescue SystemCallError, IOError, Timeout::Error => error
      warn error.message
    end
    sleep 1
  end
end

# Keeps the lease while the handler runs. One that is lost belongs to somebody else by now.
def beat(job, runner)
  loop do
    sleep LEASE / 3.0
    status, answer = call("/api/jobs/#{job["id"]}/heartbeat", { lease_token: job["lease_token"] })
    runner.raise("the lease is lost") if status != 200 || answer["cancel_requested"]
  end
end

def run(job)
  runner = Thread.current
  beats = Thread.new { beat(job, runner) }
  begin
    verb, words = "complete", { result: HANDLERS.fetch(job["type"]).call(job) }
  rescue StandardError => error
    verb, words = "fail", { error: error.full_message(highlight: false) }
  ensure
    beats.kill
  end
  status, answer = call("/api/jobs/#{job["id"]}/#{verb}", { lease_token: job["lease_token"], **words })
  warn "#{job["id"]}: #{answer["message"]}" if status != 200
end

wish = { worker: "#{Socket.gethostname}-#{Process.pid}", types: HANDLERS.keys,
         queues: ARGV.empty? ? ["default"] : ARGV, lease: LEASE, wait: 20 }
is_over = false
%w[TERM INT].each { |name| trap(name) { is_over = true } }
until is_over
  status, answer = call("/api/claim", wish)
  abort answer["message"] unless [200, 204].include?(status)
  answer["jobs"].each { |job| run(job) } if answer
end
