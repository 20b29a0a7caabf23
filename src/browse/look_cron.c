/*
 * look_cron.c - the cron entries of this pool's config: when they run; running, pausing and
 * resuming one of them.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "browse/looks.h"
#include "client/cron_sight.h"
#include "client/enqueue.h"
#include "config/config.h"
#include "process/news_ring.h"
#include "process/process.h"
#include "store/store.h"

static bool write_entry(struct json_writer *json, struct store *store,
                        const struct cron_config *cron, usec_t now, struct error *err)
{
    const struct cron_entry entry = config_cron_entry(cron);
    struct cron_sight sight;

    if (!cron_sight_look(store, &entry, now, &sight, err))
        return false;
    cron_sight_add_json(json, &sight);
    return true;
}

bool look_cron(struct look *look, struct error *err)
{
    const struct config *config = look->process->config;
    const usec_t now = store_now(look->store);
    struct json_writer json = {.out = look->body};

    if (!unpack_end(&look->wish, "a look at cron entries", err))
        return false;
    json_write_open(&json, NULL, '{');
    json_write_open(&json, "entries", '[');
    for (size_t i = 0; i < config->cron_count; i++) {
        if (!write_entry(&json, look->store, &config->cron[i], now, err))
            return false;
    }
    json_write_close(&json, ']');
    json_write_close(&json, '}');
    return true;
}

/* ---- one of them ---- */

static bool refuse_unknown(struct look *look, const char *name, struct error *err)
{
    const struct config *config = look->process->config;
    const char **names = arena_alloc(look->arena, (config->cron_count + 1) * sizeof *names);

    if (!names)
        return error_no_memory(err);
    for (size_t i = 0; i < config->cron_count; i++)
        names[i] = config->cron[i].name;
    const char *closest = text_closest(name, names, config->cron_count);
    if (closest)
        return error_set(err, TH_E_NOT_FOUND,
                         "this pool has no cron entry '%s' (did you mean '%s'?)", name, closest);
    return error_set(err, TH_E_NOT_FOUND, "this pool has no cron entry '%s'", name);
}

static bool find(struct look *look, const char *name, const struct cron_config **cron_out,
                 struct error *err)
{
    *cron_out = config_find_cron(look->process->config, name);
    return *cron_out || refuse_unknown(look, name, err);
}

static void write_paused(struct look *look, const char *name, bool paused)
{
    struct json_writer json = {.out = look->body};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "name", name);
    json_write_bool(&json, "paused", paused);
    json_write_close(&json, '}');
}

bool look_cron_pause(struct look *look, struct error *err)
{
    const char *name = unpack_word(&look->wish, JOB_NAME_MAX);
    const char *by = unpack_text(&look->wish, STORE_BY_SIZE - 1);
    const struct cron_config *cron;

    if (!unpack_end(&look->wish, "a pause of a cron entry", err) || !find(look, name, &cron, err) ||
        !store_cron_pause(look->store, cron->name, by, store_now(look->store), err))
        return false;
    write_paused(look, cron->name, true);
    return true;
}

bool look_cron_resume(struct look *look, struct error *err)
{
    const char *name = unpack_word(&look->wish, JOB_NAME_MAX);
    const struct cron_config *cron;

    if (!unpack_end(&look->wish, "the end of a pause of a cron entry", err) ||
        !find(look, name, &cron, err) ||
        !store_cron_resume(look->store, cron->name, store_now(look->store), err))
        return false;
    write_paused(look, cron->name, false);
    return true;
}

/* What is there under the id that was made for it was stored by this call, asked again. */
static void write_enqueued(struct look *look, const struct uuid *id, struct enqueued *enqueued)
{
    struct json_writer json = {.out = look->body};
    char text[UUID_TEXT_SIZE];

    if (uuid_compare(&enqueued->id, id) == 0)
        enqueued->existed = false;
    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", uuid_format(&enqueued->id, text));
    json_write_text(&json, "state", job_state_name(enqueued->state));
    json_write_bool(&json, "existed", enqueued->existed);
    json_write_bool(&json, "updated", enqueued->updated);
    json_write_close(&json, '}');
    look->status = 201;
}

/* Those who look on. */
static void tell(struct look *look, const struct job *job)
{
    struct news_ring *ring = look->process->news_ring;
    const struct news news = news_of_job(NEWS_ENQUEUED, job, store_now(look->store));

    if (news_ring_is_wanted(ring, clock_boot()))
        news_ring_add(ring, &news);
}

/* Beside its schedule: no slot is used up. */
bool look_cron_run(struct look *look, struct error *err)
{
    const char *name = unpack_word(&look->wish, JOB_NAME_MAX);
    const struct uuid id = unpack_uuid(&look->wish);
    struct enqueue enqueue = enqueue_defaults();
    const struct cron_config *cron;
    struct enqueued enqueued;

    if (!unpack_end(&look->wish, "a cron entry to run", err) || !find(look, name, &cron, err))
        return false;
    struct job job = config_cron_job(cron);

    job.id = id;
    enqueue.idempotency_window = look->process->config->idempotency_window;
    if (!enqueue_jobs(&enqueue, look->store, &job, 1, store_now(look->store), &enqueued, err))
        return false;
    write_enqueued(look, &id, &enqueued);
    if (!enqueued.existed && !enqueued.updated)
        tell(look, &job);
    return true;
}
