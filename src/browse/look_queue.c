/*
 * look_queue.c - what is done to one queue: paused, resumed, hidden.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "browse/looks.h"
#include "client/offers.h"
#include "store/store.h"

static bool is_stored(struct store *store, const char *queue, bool *stored_out, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};

    *stored_out = false;
    if (!store_stats(store, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        *stored_out |= text_equal(list.items[i].queue, queue);
    return true;
}

static bool is_offered(const struct offers *offers, const char *queue)
{
    for (size_t i = 0; i < offers->count; i++) {
        for (size_t k = 0; k < offers->pools[i].queue_count; k++) {
            if (text_equal(offers->pools[i].queues[k].name, queue))
                return true;
        }
    }
    return text_equal(queue, JOB_QUEUE_DEFAULT);
}

/* A queue that nobody uses is most likely a mistyped one. */
static bool check_known(struct store *store, const char *queue, struct error *err)
{
    CLEANUP(offers_done) struct offers offers = {0};
    bool stored;

    if (!is_stored(store, queue, &stored, err) || !offers_read(store, &offers, err))
        return false;
    if (stored || is_offered(&offers, queue))
        return true;
    const char *closest = offers_closest_queue(&offers, queue);
    if (closest)
        return error_set(err, TH_E_NOT_FOUND, "there is no queue '%s' (did you mean '%s'?)", queue,
                         closest);
    return error_set(err, TH_E_NOT_FOUND, "there is no queue '%s'", queue);
}

static void write_answer(struct look *look, const char *queue, bool paused)
{
    struct json_writer json = {.out = look->body};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "queue", queue);
    json_write_bool(&json, "paused", paused);
    json_write_close(&json, '}');
}

bool look_queue_pause(struct look *look, struct error *err)
{
    const char *queue = unpack_word(&look->wish, JOB_NAME_MAX);
    const char *by = unpack_text(&look->wish, STORE_BY_SIZE - 1);
    const bool create = unpack_flag(&look->wish);

    if (!unpack_end(&look->wish, "a pause", err) ||
        !(create || check_known(look->store, queue, err)) ||
        !store_pause(look->store, queue, by, store_now(look->store), err))
        return false;
    write_answer(look, queue, true);
    return true;
}

bool look_queue_resume(struct look *look, struct error *err)
{
    const char *queue = unpack_word(&look->wish, JOB_NAME_MAX);

    if (!unpack_end(&look->wish, "the end of a pause", err) ||
        !check_known(look->store, queue, err) || !store_resume(look->store, queue, err))
        return false;
    write_answer(look, queue, false);
    return true;
}

bool look_queue_hide(struct look *look, struct error *err)
{
    const char *queue = unpack_word(&look->wish, JOB_NAME_MAX);

    if (!unpack_end(&look->wish, "a queue to hide", err))
        return false;
    if (!store_hide_queue(look->store, queue, err)) {
        if (err->code == TH_E_NOT_FOUND)
            return error_set(err, TH_E_NOT_FOUND, "there is no queue '%s'", queue);
        if (err->code == TH_E_CONFLICT)
            return error_set(err, TH_E_CONFLICT, "queue '%s' still has jobs, ended ones included",
                             queue);
        return false;
    }
    look->status = 204;
    return true;
}
