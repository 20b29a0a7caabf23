#!/usr/bin/env ruby
require "json"

$stdout.sync = true
$stdin.each_line do |line|
  job = JSON.parse(line)
  puts JSON.generate(id: job["id"], ok: true, result: job["payload"])
end
