#!/usr/bin/env node
// Enqueues a job in Redis, waits for its end and prints its result, with nothing but Node's own modules:
//
//     node send.js 127.0.0.1:6379 mail email:send '{"to": "ada@example.org"}'
//
// With a Redis library all of class Redis goes: its eval() and subscribe() do the same.
'use strict';
const fs = require('fs');
const net = require('net');
const path = require('path');

const SCRIPTS = process.env.TASKHARBOR_SCRIPTS || '/usr/share/taskharbor/redis';
const WATCH = 60; // seconds; the mark is made anew as long as the job goes on

// One value from `text`, which has a character for each byte: [value, where the next one starts], or null.
function parse(text, at) {
    const eol = text.indexOf('\r\n', at);
    if (eol < 0) return null;
    const rest = text.slice(at + 1, eol);
    let next = eol + 2;
    switch (text[at]) {
    case '-': return [new Error(rest), next];
    case ':': return [Number(rest), next];
    case '$': {
        if (rest === '-1') return [null, next];
        const end = next + Number(rest);
        return text.length < end + 2 ? null : [Buffer.from(text.slice(next, end), 'latin1').toString(), end + 2];
    }
    case '*': {
        const list = [];
        for (let i = 0; i < Number(rest); i++) {
            const item = parse(text, next);
            if (item === null) return null;
            list.push(item[0]);
            next = item[1];
        }
        return [list, next];
    }
    default: return [rest, next];
    }
}

class Redis {
    constructor(address) {
        const [host, port] = address.split(':');
        this.waiting = []; // those who are to get the next answers
        this.unread = '';
        this.socket = net.connect(Number(port), host);
        this.socket.on('data', (bytes) => this.take(bytes));
        this.socket.on('error', (error) => this.waiting.splice(0).forEach(([, fail]) => fail(error)));
    }

    take(bytes) {
        this.unread += bytes.toString('latin1');
        for (let found; (found = parse(this.unread, 0)) !== null;) {
            this.unread = this.unread.slice(found[1]);
            const [done, fail] = this.waiting.shift() || [() => {}, () => {}];
            (found[0] instanceof Error ? fail : done)(found[0]);
        }
    }

    read() {
        return new Promise((done, fail) => this.waiting.push([done, fail]));
    }

    call(...words) {
        const parts = words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`);
        this.socket.write(`*${words.length}\r\n${parts.join('')}`);
        return this.read();
    }

    close() {
        this.socket.destroy();
    }
}

function runScript(redis, name, queue, ...words) {
    const base = `th:{${queue}}:`;
    return redis.call('EVAL', fs.readFileSync(path.join(SCRIPTS, name)), 2, base, `${base}state`, ...words);
}

// All that is known of a job, by name. Whoever reads it so is told of its end.
async function readJob(redis, queue, job) {
    const found = await runScript(redis, 'job.lua', queue, job, WATCH);
    const fields = {};
    for (let i = 0; i < found.length; i += 2) fields[found[i]] = found[i + 1];
    return fields;
}

// First listen, then look: what ends in between is not missed. Now and then it looks without being told: a
// message may be lost when a server is replaced.
async function waitFor(redis, bell, queue, job) {
    await bell.call('SUBSCRIBE', `th:{${queue}}:end:${job}`);
    const told = bell.read();
    for (;;) {
        const found = await readJob(redis, queue, job);
        if ([undefined, 'done', 'dead', 'cancelled'].includes(found.state)) return found;
        let timer;
        await Promise.race([told, new Promise((done) => { timer = setTimeout(done, WATCH * 500); })]);
        clearTimeout(timer);
    }
}

async function main([address, queue, type, payload]) {
    const redis = new Redis(address);
    const bell = new Redis(address);
    const [job] = await runScript(redis, 'enqueue.lua', queue, 'type', type, 'payload', payload);
    const ended = await waitFor(redis, bell, queue, job);
    console.log(job, ended.state || 'gone', (ended.result || ended.last_error || '').trim());
    process.exitCode = ended.state === 'done' ? 0 : 1;
    redis.close();
    bell.close();
}

main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
});
