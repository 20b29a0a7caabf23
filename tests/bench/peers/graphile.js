/*
 * graphile.js - graphile-worker as its documentation tunes it (worker.graphile.org/docs/performance):
 * jobs are fetched in batches into a local queue and completed in batches, nothing is logged. It
 * forgets jobs that are done.
 */
"use strict";

const { run, runMigrations, Logger, makeWorkerUtils } = require("graphile-worker");
const { Client } = require("pg");
const crew = require("./crew");

process.env.NO_LOG_SUCCESS = "1";

const PROCESSES = 1;
const CONCURRENCY = 96;
const LOCAL_QUEUE = 2000;
const BATCH = 5000;
const PAYLOAD = { text: "x".repeat(89) }; // 100 bytes

const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

async function work(url, keep, count) {
  const options = {
    logger,
    noHandleSignals: true,
    taskList: { noop: () => count() },
    preset: {
      worker: {
        connectionString: url,
        concurrentJobs: CONCURRENCY,
        maxPoolSize: CONCURRENCY + 4,
        localQueue: { size: LOCAL_QUEUE },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  };
  let runner;
  return {
    start: async () => { runner = await run(options); },
    stop: () => runner.stop(),
  };
}

async function open(url) {
  const client = new Client(url);
  await client.connect();
  await runMigrations({ connectionString: url, logger });
  return {
    fill: async (jobs) => {
      const utils = await makeWorkerUtils({ connectionString: url, logger });
      for (let stored = 0; stored < jobs; stored += BATCH)
        await utils.addJobs(Array.from({ length: Math.min(BATCH, jobs - stored) },
          () => ({ identifier: "noop", payload: PAYLOAD })));
      await utils.release();
      /* Without statistics its plans are far slower. */
      await client.query("VACUUM ANALYZE graphile_worker._private_jobs");
      await client.query("CHECKPOINT");
    },
    finish: async () => {
      const left = "SELECT EXISTS (SELECT FROM graphile_worker._private_jobs) AS more";
      while ((await client.query(left)).rows[0].more)
        await new Promise((resolve) => setTimeout(resolve, 5));
    },
    close: () => client.end(),
  };
}

crew.run({ processes: PROCESSES, work, open });
