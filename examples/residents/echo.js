#!/usr/bin/env node
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const job = JSON.parse(line)
  console.log(JSON.stringify({ id: job.id, ok: true, result: job.payload }))
})
