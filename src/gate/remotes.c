/*
 * remotes.c - remote workers, each of them a pool of its own in the store.
 */
#include "gate/remotes.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "config/config.h"
#include "door/remote_lease.h"
#include "gate/inside.h"
#include "process/meters.h"
#include "process/process.h"

#include <taskharbor/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFER_MAX   ((size_t)64 << 10)
#define STATUS_MAX  ((size_t)256 << 10)
#define STATUS_JOBS 200 /* more of one worker are counted, not shown */

/* ---- the table ---- */

static void free_remote(struct remote *remote)
{
    buffer_done(&remote->offer);
    buffer_done(&remote->status);
    free(remote->jobs);
    free(remote);
}

/* A worker that comes under a new name each time is not kept for ever. */
static void forget_silent(struct gate *gate)
{
    const usec_t before = clock_boot() - gate->config->pool.stale_threshold;
    struct remote **place = &gate->remotes.first;

    while (*place) {
        struct remote *remote = *place;

        if (remote->seen_at < before && !remote->is_due) {
            *place = remote->next;
            free_remote(remote);
        } else {
            place = &remote->next;
        }
    }
}

static struct remote *find(const struct remotes *remotes, const char *name)
{
    struct remote *remote = remotes->first;

    while (remote && !text_equal(remote->name, name))
        remote = remote->next;
    return remote;
}

struct remote *remotes_get(struct gate *gate, const char *name)
{
    struct remote *remote = find(&gate->remotes, name);

    if (remote)
        return remote;
    forget_silent(gate);
    remote = calloc(1, sizeof *remote);
    if (!remote)
        return NULL;
    remote->offer = (struct buffer)BUFFER(OFFER_MAX);
    remote->status = (struct buffer)BUFFER(STATUS_MAX);
    remote->seen_at = clock_boot();
    snprintf(remote->name, sizeof remote->name, "%s", name);
    remote->next = gate->remotes.first;
    gate->remotes.first = remote;
    return remote;
}

void remotes_done(struct gate *gate)
{
    while (gate->remotes.first) {
        struct remote *remote = gate->remotes.first;

        gate->remotes.first = remote->next;
        free_remote(remote);
    }
}

/* ---- what is known of one ---- */

/* As other pools show what they offer: periodic/offer.c. One that takes any type does not say which
 * it has. */
static void write_offer(struct buffer *text, const struct claim_call *call)
{
    struct json_writer json = {.out = text};

    json_write_open(&json, "queues", '[');
    for (size_t i = 0; i < call->queue_count; i++) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "name", call->queues[i]);
        json_write_close(&json, '}');
    }
    json_write_close(&json, ']');
    if (call->type_count == 0)
        return;
    json_write_open(&json, "handlers", '[');
    for (size_t i = 0; i < call->type_count; i++) {
        json_write_open(&json, NULL, '{');
        json_write_text(&json, "pattern", call->types[i]);
        json_write_text(&json, "kind", "remote");
        json_write_close(&json, '}');
    }
    json_write_close(&json, ']');
}

void remote_note_claim(struct remote *remote, const struct claim_call *call)
{
    CLEANUP(buffer_done) struct buffer offer = BUFFER(OFFER_MAX);

    write_offer(&offer, call);
    if (text_equal(buffer_str(&offer), buffer_str(&remote->offer)) &&
        text_equal(remote->host, call->host))
        return;
    buffer_clear(&remote->offer);
    buffer_add(&remote->offer, buffer_str(&offer), offer.length);
    snprintf(remote->host, sizeof remote->host, "%s", call->host);
    remote->is_changed = true;
}

static struct remote_job *find_job(const struct remote *remote, const struct uuid *id)
{
    for (size_t i = 0; i < remote->job_count; i++) {
        if (uuid_compare(&remote->jobs[i].id, id) == 0)
            return &remote->jobs[i];
    }
    return NULL;
}

static bool make_room(struct remote *remote)
{
    const size_t capacity = remote->job_capacity == 0 ? 4 : 2 * remote->job_capacity;

    if (remote->job_count < remote->job_capacity)
        return true;
    struct remote_job *jobs = reallocarray(remote->jobs, capacity, sizeof *jobs);

    if (!jobs)
        return false;
    remote->jobs = jobs;
    remote->job_capacity = capacity;
    return true;
}

/* It is for people: without memory it is left out. */
void remote_note_job(struct remote *remote, const struct remote_lease *lease)
{
    if (find_job(remote, &lease->job) || !make_room(remote))
        return;
    struct remote_job *job = &remote->jobs[remote->job_count++];

    *job = (struct remote_job){.id = lease->job, .since = lease->started_at};
    snprintf(job->type, sizeof job->type, "%s", lease->type);
    remote->is_changed = true;
}

void remote_note_end(struct remote *remote, const struct uuid *job)
{
    struct remote_job *found = find_job(remote, job);

    if (!found)
        return;
    *found = remote->jobs[--remote->job_count];
    remote->is_changed = true;
}

void remote_touch(const struct gate *gate, struct remote *remote)
{
    const usec_t now = clock_boot();

    remote->seen_at = now;
    if (remote->beat_at == 0 || now - remote->beat_at >= gate->config->pool.heartbeat_interval)
        remote->is_due = true;
}

/* ---- its status ---- */

static void write_job(struct json_writer *json, const struct remote_job *job, size_t number)
{
    char name[32], id[UUID_TEXT_SIZE];

    snprintf(name, sizeof name, "worker %zu", number);
    json_write_open(json, NULL, '{');
    json_write_text(json, "name", name);
    json_write_null(json, "pid");
    json_write_text(json, "state", "running");
    json_write_time(json, "since", job->since);
    json_write_text(json, "job", uuid_format(&job->id, id));
    json_write_text(json, "type", job->type);
    json_write_null(json, "progress");
    json_write_int(json, "jobs_running", 1);
    json_write_null(json, "jobs_done");
    json_write_close(json, '}');
}

static void write_status(const struct remote *remote, struct buffer *text)
{
    struct json_writer json = {.out = text};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "version", TH_VERSION);
    json_write_text(&json, "state", remote->state == REMOTE_RUNNING ? "running" : "draining");
    json_write_open(&json, "processes", '[');
    for (size_t i = 0; i < remote->job_count && i < STATUS_JOBS; i++)
        write_job(&json, &remote->jobs[i], i + 1);
    json_write_close(&json, ']');
    if (remote->offer.length > 0) {
        buffer_char(text, ',');
        buffer_text(text, buffer_str(&remote->offer));
    }
    json_write_close(&json, '}');
}

static struct bytes bytes_of(const struct buffer *buffer)
{
    return (struct bytes){(const unsigned char *)buffer_str(buffer), buffer->length};
}

/* ---- beats ---- */

/* What is put together for one call of the store; all in the arena of the turn. */
struct round {
    struct remote **remotes;
    struct heartbeat *heartbeats;
    struct pool_answer *told;
    size_t count;
    struct lease_beat *leases;
    struct lease_answer *answers;
};

static bool enter(struct gate *gate, struct remote *remote, struct error *err)
{
    struct store *store = desk_store(gate->desk);
    const struct pool pool = {
        .name = remote->name,
        .host = remote->host,
        .started_at = store_now(store),
        .status = bytes_of(&remote->status),
    };

    return store_pool_register(store, &pool, store_now(store), err) ||
           error_prefix(err, "register the remote worker %s", remote->name);
}

static bool make_round(struct gate *gate, size_t leases, struct round *round, struct error *err)
{
    struct arena *arena = &gate->turn;
    size_t most = 0;

    for (struct remote *remote = gate->remotes.first; remote; remote = remote->next)
        most++;
    *round = (struct round){
        .remotes = arena_alloc(arena, (most + 1) * sizeof(struct remote *)),
        .heartbeats = arena_alloc(arena, (most + 1) * sizeof *round->heartbeats),
        .told = arena_alloc(arena, (most + 1) * sizeof *round->told),
        .leases = arena_alloc(arena, (leases + 1) * sizeof *round->leases),
        .answers = arena_alloc(arena, (leases + 1) * sizeof *round->answers),
    };
    return !arena->failed || error_no_memory(err);
}

static bool add_remote(struct gate *gate, struct round *round, struct remote *remote,
                       size_t *first_lease, struct error *err)
{
    struct heartbeat *heartbeat = &round->heartbeats[round->count];

    buffer_clear(&remote->status);
    write_status(remote, &remote->status);
    if (!buffer_ok(&remote->status, err))
        return false;
    *heartbeat = (struct heartbeat){
        .pool = remote->name,
        .leases = round->leases + *first_lease,
        .lease_count = remote->lease_count,
        .lease_for = gate->config->pool.lease,
    };
    if (remote->is_changed)
        heartbeat->status = bytes_of(&remote->status);
    round->remotes[round->count++] = remote;
    remote->first_lease = *first_lease;
    *first_lease += remote->lease_count;
    return true;
}

/* The leases of one remote stand together. */
static bool fill_round(struct gate *gate, struct round *round, const struct remote_beat *beats,
                       size_t count, struct error *err)
{
    size_t first_lease = 0;

    for (struct remote *remote = gate->remotes.first; remote; remote = remote->next)
        remote->lease_count = 0;
    for (size_t i = 0; i < count; i++)
        beats[i].remote->lease_count++;
    for (struct remote *remote = gate->remotes.first; remote; remote = remote->next) {
        if ((remote->is_due || remote->lease_count > 0) &&
            !add_remote(gate, round, remote, &first_lease, err))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        round->leases[beats[i].remote->first_lease++] = beats[i].lease;
    return true;
}

static bool conclude(struct gate *gate, const struct round *round, struct error *err)
{
    static const enum remote_state states[POOL_WANTS] = {
        [POOL_WANT_NOTHING] = REMOTE_RUNNING,
        [POOL_WANT_QUIET] = REMOTE_QUIET,
        [POOL_WANT_TERMINATE] = REMOTE_TERMINATE,
    };

    for (size_t i = 0; i < round->count; i++) {
        struct remote *remote = round->remotes[i];
        const enum remote_state state = states[round->told[i].want];

        if (!round->told[i].is_registered && !enter(gate, remote, err))
            return false;
        remote->is_changed = remote->state != state;
        remote->state = state;
        remote->is_due = false;
        remote->beat_at = clock_boot();
    }
    return true;
}

/* In the order in which fill_round() placed them. */
static void give_answers(const struct round *round, struct remote_beat *beats, size_t count)
{
    for (size_t i = 0; i < round->count; i++)
        round->remotes[i]->first_lease -= round->remotes[i]->lease_count;
    for (size_t i = 0; i < count; i++)
        beats[i].answer = round->answers[beats[i].remote->first_lease++];
}

bool remotes_run(struct gate *gate, struct remote_beat *beats, size_t count, struct error *err)
{
    struct store *store = desk_store(gate->desk);
    const usec_t begun_at = clock_boot();
    struct round round;

    if (!make_round(gate, count, &round, err) || !fill_round(gate, &round, beats, count, err))
        return false;
    if (round.count == 0)
        return true;
    if (!store_heartbeat(store, round.heartbeats, round.count, store_now(store), round.answers,
                         round.told, err))
        return error_prefix(err, "beat for %zu remote workers", round.count);
    meters_add_store_work(desk_process(gate->desk)->meters, STORE_HEARTBEAT, begun_at);
    give_answers(&round, beats, count);
    return conclude(gate, &round, err);
}
