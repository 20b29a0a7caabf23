/*
 * crew.js - how a peer is measured: its workers are processes that have been warmed up, all jobs are
 * stored before the clock starts, and it stops when the last one is done.
 *
 *     node PEER.js URL JOBS [keep]    prints the seconds that it took; the server is empty
 *
 * A peer is an object:
 *
 *     processes     how many work at a time
 *     work(url, keep, count)
 *                   in each of them: answers start() and stop(); calls count() for each job that it ran
 *     open(url)     in the process that measures: answers
 *         fill(jobs)            so many more are stored, and the server has come to rest
 *         finish(jobs, keep)    waits until the server says that so many are done in all, or throws
 *         close()
 */
"use strict";

const { fork } = require("node:child_process");
const { once } = require("node:events");

const WARM_UP = 5000; // jobs; by then the hot functions are compiled
const TOLD_EVERY = 3; // ms

async function serve(peer, url, keep) {
  let done = 0;
  let told = 0;
  const crew = await peer.work(url, keep, () => { done++; });
  setInterval(() => {
    if (done > told) process.send({ done: done - told });
    told = done;
  }, TOLD_EVERY);
  process.on("message", async (order) => {
    await crew[order]();
    process.send({ [order]: true });
  });
  process.on("disconnect", () => process.exit());
  process.send({ ready: true });
}

/* Resolves when each of them has said the word. */
function hear(members, word) {
  return Promise.all(members.map((member) => new Promise((resolve, reject) => {
    const exit = () => reject(new Error("a worker has ended"));
    member.once("exit", exit);
    member.on("message", function listen(said) {
      if (!said[word]) return;
      member.off("message", listen);
      member.off("exit", exit);
      resolve();
    });
  })));
}

async function order(members, word) {
  const heard = hear(members, word);
  members.forEach((member) => member.send(word));
  await heard;
}

/* Resolves when they have done so many. */
function done(members, jobs) {
  let left = jobs;
  return new Promise((resolve, reject) => {
    for (const member of members) {
      member.once("exit", () => reject(new Error("a worker has ended")));
      member.on("message", (said) => {
        left -= said.done || 0;
        if (left <= 0) resolve();
      });
    }
  });
}

/* Seconds from the first to the last of so many jobs, after some others. */
async function run(members, store, before, jobs, keep) {
  await store.fill(jobs);
  const start = process.hrtime.bigint();
  const all = done(members, jobs);
  members.forEach((member) => member.send("start"));
  await all;
  await store.finish(before + jobs, keep);
  return Number(process.hrtime.bigint() - start) / 1e9;
}

async function measure(peer, url, jobs, keep) {
  const store = await peer.open(url);
  const members = Array.from({ length: peer.processes }, () => fork(process.argv[1], process.argv.slice(2)));
  await hear(members, "ready");
  await run(members, store, 0, WARM_UP, keep);
  await order(members, "stop");
  console.log(await run(members, store, WARM_UP, jobs, keep));
  members.forEach((member) => { member.removeAllListeners("exit"); member.kill("SIGKILL"); });
  await Promise.all(members.map((member) => once(member, "exit")));
  await store.close();
}

exports.run = (peer) => {
  const [url, jobs, keep] = process.argv.slice(2);
  const way = process.send ? serve(peer, url, keep === "keep") : measure(peer, url, Number(jobs), keep === "keep");
  way.catch((error) => { console.error(error); process.exit(1); });
};
