#!/usr/bin/env node
// A worker over HTTP, with what Node 18 has built in: worker.js [QUEUE...]
//
// TASKHARBOR_URL says where thd listens, TASKHARBOR_TOKEN has its token if there is one.
"use strict";
const os = require("node:os");
const { setTimeout: sleep } = require("node:timers/promises");

const url = process.env.TASKHARBOR_URL || "http://127.0.0.1:7460";
const lease = 30; // seconds; a third of it passes between two heartbeats
let isOver = false;

const handlers = {
  async hello(job) {
    if (!job.payload?.name) throw new Error("the payload has no name");
    return { greeting: `hello ${job.payload.name}` };
  },
};

// Status and answer. Whoever does not answer is asked again: every call may be repeated.
async function call(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (process.env.TASKHARBOR_TOKEN) headers.Authorization = `Bearer ${process.env.TASKHARBOR_TOKEN}`;
  for (;;) {
    try {
      const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      const text = await answer.text();
      if (answer.status !== 429 && answer.status !== 503) return [answer.status, text ? JSON.parse(text) : null];
    } catch (error) {
      console.error(error.cause?.message || error.message);
    }
    await sleep(1000);
  }
}

// Keeps the lease while the handler runs. One that is lost belongs to somebody else by now.
async function beat(job, stop) {
  const words = { lease_token: job.lease_token };
  const [status, answer] = await call(`/api/jobs/${job.id}/heartbeat`, words);
  if (status !== 200 || answer.cancel_requested) stop.abort();
}

async function run(job) {
  const stop = new AbortController(); // handlers that take long look at job.signal
  const beats = setInterval(beat, (lease * 1000) / 3, job, stop);
  let verb, words;
  try {
    [verb, words] = ["complete", { result: await handlers[job.type]({ ...job, signal: stop.signal }) }];
  } catch (error) {
    [verb, words] = ["fail", { error: String(error.stack || error) }];
  }
  clearInterval(beats);
  const [status, answer] = await call(`/api/jobs/${job.id}/${verb}`, { lease_token: job.lease_token, ...words });
  if (status !== 200) console.error(`${job.id}: ${answer.message}`);
}

async function main() {
  const queues = process.argv.slice(2);
  const wish = {
    worker: `${os.hostname()}-${process.pid}`,
    types: Object.keys(handlers),
    queues: queues.length ? queues : ["default"],
    max: 10,
    lease,
    wait: 20,
  };
  for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => (isOver = true));
  while (!isOver) {
    const [status, answer] = await call("/api/claim", wish);
    if (status !== 200 && status !== 204) throw new Error(answer.message);
    await Promise.all((answer?.jobs || []).map(run));
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
