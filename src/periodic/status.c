/*
 * status.c - what the processes of this pool are doing, as JSON for people.
 *
 * A pool in which nothing happens writes the same text again, so that its beats need not carry it:
 * the passes that services make are left out.
 */
#include "periodic/status.h"

#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "config/config.h"
#include "periodic/offer.h"
#include "periodic/recent.h"
#include "process/scoreboard.h"
#include "process/start_board.h"

#include <taskharbor/version.h>

/* Six bytes are the most that JSON makes of one: backslash, u and four digits. */
#define PROCESS_MAX (6 * (SCOREBOARD_NAME_SIZE + JOB_NAME_MAX + SCOREBOARD_TEXT_SIZE) + 512)

#define FAILURE_MAX (6 * (JOB_NAME_MAX + START_BOARD_ERROR_SIZE) + 256)

size_t status_limit(const struct config *config, size_t slot_count)
{
    return 512 + slot_count * PROCESS_MAX + offer_limit(config) +
           config->handler_count * FAILURE_MAX + RECENT_LIMIT;
}

/* The dispatcher is the one that drains. */
static bool is_draining(const struct slot *slot)
{
    return slot->state == SLOT_STOPPING && text_equal(slot->name, "dispatcher");
}

static const char *pool_state(const struct slot *slots, size_t count)
{
    const char *state = "running";

    for (size_t i = 0; i < count; i++) {
        if (is_draining(&slots[i]))
            return "draining";
        if (slots[i].state == SLOT_RUNNING && slots[i].is_retiring)
            state = "replacing";
    }
    return state;
}

static void write_progress(struct json_writer *json, const struct slot *slot)
{
    if (slot->progress_percent < 0) {
        json_write_null(json, "progress");
        return;
    }
    json_write_open(json, "progress", '{');
    json_write_int(json, "percent", slot->progress_percent);
    json_write_text(json, "text", slot->progress_text[0] ? slot->progress_text : NULL);
    json_write_close(json, '}');
}

static void write_job(struct json_writer *json, const struct slot *slot)
{
    char id[UUID_TEXT_SIZE];

    json_write_text(json, "job", uuid_format(&slot->job, id));
    json_write_text(json, "type", slot->type);
    write_progress(json, slot);
    json_write_int(json, "jobs_running", (int64_t)slot->jobs_running);
}

static void write_no_job(struct json_writer *json)
{
    json_write_null(json, "job");
    json_write_null(json, "type");
    json_write_null(json, "progress");
    json_write_null(json, "jobs_running");
}

/* A worker may write anything into its slot. */
static usec_t since_of(const struct slot *slot)
{
    return slot->since > 0 && slot->since <= TIMESTAMP_MAX ? slot->since : 0;
}

static void write_process(struct json_writer *json, const struct slot *slot)
{
    json_write_open(json, NULL, '{');
    json_write_text(json, "name", slot->name);
    json_write_int(json, "pid", slot->pid);
    json_write_text(json, "state", slot_state_name(slot->state));
    json_write_time(json, "since", since_of(slot));
    if (slot->state == SLOT_RUNNING && slot->type[0] != '\0')
        write_job(json, slot);
    else
        write_no_job(json);
    if (slot->number > 0)
        json_write_int(json, "jobs_done", slot->jobs_done);
    else
        json_write_null(json, "jobs_done");
    json_write_close(json, '}');
}

static void write_start_failures(const struct config *config, const struct start_board *starts,
                                 struct json_writer *json)
{
    struct start_failure failure;

    json_write_open(json, "start_failures", '[');
    for (size_t i = 0; starts && i < config->handler_count; i++) {
        if (!start_board_get(starts, i, &failure))
            continue;
        json_write_open(json, NULL, '{');
        json_write_text(json, "pattern", config->handlers[i].pattern);
        json_write_text(json, "error", failure.error);
        json_write_time(json, "since", failure.since);
        json_write_time(json, "next_try", failure.next_try);
        json_write_close(json, '}');
    }
    json_write_close(json, ']');
}

void status_write(const struct config *config, const struct slot *slots, size_t count,
                  const struct start_board *starts, const struct meters *meters, usec_t now,
                  struct buffer *out)
{
    struct json_writer json = {.out = out};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "version", TH_VERSION);
    json_write_text(&json, "state", pool_state(slots, count));
    json_write_open(&json, "processes", '[');
    for (size_t i = 0; i < count; i++) {
        if (slots[i].state != SLOT_EMPTY)
            write_process(&json, &slots[i]);
    }
    json_write_close(&json, ']');
    offer_write(config, &json);
    write_start_failures(config, starts, &json);
    recent_write(meters, now, &json);
    json_write_close(&json, '}');
}
