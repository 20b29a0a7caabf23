/*
 * door_client.c - the door of the library and thctl.
 */
#include "doors.h"

#include "base/text.h"
#include "client/enqueue.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAGS_READ 16
#define TAGS_SIZE 2048

#define FIELD(name)                                                                                \
    {                                                                                              \
#name, offsetof(struct offer, name)                                                        \
    }

const struct offer_field offer_fields[OFFER_FIELDS] = {
    FIELD(type),          FIELD(queue),           FIELD(encoding),     FIELD(priority),
    FIELD(run_at),        FIELD(timeout),         FIELD(max_attempts), FIELD(max_stalls),
    FIELD(key),           FIELD(idempotency_key), FIELD(id),           FIELD(update_payload),
    FIELD(update_run_at), FIELD(update_retry),    FIELD(reset_counts), FIELD(headers),
    FIELD(tags),
};

const char *offer_value(const struct offer *offer, size_t field)
{
    return *(const char *const *)(const void *)((const char *)offer + offer_fields[field].offset);
}

struct client_door {
    struct scene *scene;
    struct enqueue enqueue;
};

/* What cannot even be said in C. */
static bool read_int(const char *text, int *number)
{
    int64_t read = 0;

    if (!text)
        return true;
    if (!text_to_int(text, INT_MIN, INT_MAX, &read))
        return false;
    *number = (int)read;
    return true;
}

static bool read_usec(const char *text, usec_t *usec)
{
    return !text || text_to_int(text, INT64_MIN, INT64_MAX, usec);
}

static bool read_bool(const char *text, bool *flag)
{
    if (!text)
        return true;
    *flag = text_equal(text, "true");
    return *flag || text_equal(text, "false");
}

static bool read_words(const struct offer *offer, struct job *job)
{
    if (offer->encoding) {
        job->encoding = text_equal(offer->encoding, "raw") ? JOB_RAW : JOB_JSON;
        if (job->encoding == JOB_JSON && !text_equal(offer->encoding, "json"))
            return false;
    }
    if (offer->id && !uuid_parse(offer->id, &job->id))
        return false;
    return (!offer->update_run_at ||
            update_run_at_parse(offer->update_run_at, &job->update.run_at)) &&
           read_bool(offer->update_payload, &job->update.payload) &&
           read_bool(offer->update_retry, &job->update.retry) &&
           read_bool(offer->reset_counts, &job->update.reset_counts);
}

static struct tags read_tags(const char *text, char copy[TAGS_SIZE], const char **names)
{
    size_t count = 0;

    snprintf(copy, TAGS_SIZE, "%s", text ? text : "");
    for (char *at = copy; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        const bool is_last = at[length] == '\0';

        at[length] = '\0';
        if (length > 0 && count < TAGS_READ)
            names[count++] = at;
        at += length + !is_last;
    }
    return (struct tags){names, count};
}

static bool read_offer(const struct offer *offer, struct job *job)
{
    job->type = offer->type;
    job->queue = offer->queue;
    job->key = offer->key;
    job->idempotency_key = offer->idempotency_key;
    job->headers = offer->headers;
    if (offer->payload.data)
        job->payload = offer->payload;
    return read_int(offer->priority, &job->priority) && read_usec(offer->run_at, &job->run_at) &&
           read_usec(offer->timeout, &job->timeout) &&
           read_int(offer->max_attempts, &job->max_attempts) &&
           read_int(offer->max_stalls, &job->max_stalls) && read_words(offer, job);
}

static void *open_door(const struct scene *scene)
{
    struct client_door *door = calloc(1, sizeof *door);

    ck_assert_ptr_nonnull(door);
    door->scene = (struct scene *)scene;
    door->enqueue = enqueue_defaults();
    return door;
}

/* The nil id, which stands for none in a request, is refused where it is read. */
static void enqueue(void *state, const struct offer *offer, struct door_answer *answer)
{
    struct client_door *door = state;
    struct job job = job_defaults();
    const char *names[TAGS_READ];
    char tags[TAGS_SIZE];
    struct enqueued enqueued;
    struct error err = {0};

    *answer = (struct door_answer){0};
    job.tags = read_tags(offer->tags, tags, names);
    if (!read_offer(offer, &job) || (offer->id && uuid_is_nil(&job.id)))
        return;
    answer->accepted = enqueue_jobs(&door->enqueue, door->scene->store, &job, 1,
                                    store_now(door->scene->store), &enqueued, &err);
    if (answer->accepted)
        answer->id = enqueued.id;
    else
        snprintf(answer->sentence, sizeof answer->sentence, "%s", err.text);
}

const struct door door_of_client = {"", open_door, enqueue, free};
