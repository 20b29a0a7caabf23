#!/usr/bin/env node
// Many jobs at a time: each waits for as many seconds as its payload says, {"seconds": 2}.
const { setTimeout: sleep } = require('timers/promises')

const running = new Map()
const answer = (job, members) => console.log(JSON.stringify({ id: job.id, ...members }))

async function run(job) {
  const stop = new AbortController()
  running.set(job.id, stop)
  try {
    await sleep(1000 * job.payload.seconds, null, { signal: stop.signal })
    answer(job, { ok: true, result: 'slept' })
  } catch (error) {
    answer(job, { ok: false, error: stop.signal.aborted ? 'given up' : String(error) })
  } finally {
    running.delete(job.id)
  }
}

require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const job = JSON.parse(line)
  if (job.cancel) running.get(job.id)?.abort()
  else run(job)
})
