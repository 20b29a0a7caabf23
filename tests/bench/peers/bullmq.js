/*
 * bullmq.js - BullMQ with several processes of high concurrency, as its documentation advises for
 * throughput (docs.bullmq.io/guide/workers/concurrency), and no checks for stalled jobs meanwhile.
 */
"use strict";

const { Queue, Worker } = require("bullmq");
const { Redis } = require("ioredis");
const crew = require("./crew");

const PROCESSES = 2;
const CONCURRENCY = 100;
const BATCH = 5000;
const PAYLOAD = { text: "x".repeat(89) }; // 100 bytes
const NAME = "bench";

function connection(url) {
  return new Redis(url, { maxRetriesPerRequest: null });
}

async function work(url, keep, count) {
  const worker = new Worker(NAME, async () => {}, {
    connection: connection(url),
    autorun: false,
    concurrency: CONCURRENCY,
    skipStalledCheck: true,
    ...(keep ? {} : { removeOnComplete: { count: 0 } }),
  });
  worker.on("completed", count); // the server has answered
  worker.on("error", (error) => { throw error; });
  await worker.waitUntilReady();
  return {
    start: () => { if (worker.isPaused()) worker.resume(); else worker.run(); },
    stop: () => worker.pause(),
  };
}

async function open(url) {
  const redis = connection(url);
  const queue = new Queue(NAME, { connection: redis });
  return {
    fill: async (jobs) => {
      for (let stored = 0; stored < jobs; stored += BATCH)
        await queue.addBulk(Array.from({ length: Math.min(BATCH, jobs - stored) },
          () => ({ name: "noop", data: PAYLOAD })));
    },
    finish: async (jobs, keep) => {
      const found = await queue.getJobCounts("wait", "active", "completed", "failed");
      if (found.wait + found.active + found.failed > 0 || found.completed !== (keep ? jobs : 0))
        throw new Error(`not all are done: ${JSON.stringify(found)}`);
    },
    close: async () => { await queue.close(); redis.disconnect(); },
  };
}

crew.run({ processes: PROCESSES, work, open });
