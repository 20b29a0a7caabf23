/*
 * cron.c - the cron entries of this pool; running, pausing and resuming one.
 */
#include "api/author.h"
#include "api/endpoints.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "base/uuid.h"
#include "door/pack.h"

#define PACK_SHORT ((size_t)4096)

static void serve_list(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);

    if (visit_read(visit, NULL, NULL))
        visit_browse(visit, CALL_CRON, &pack);
}

/* The id of its job is made here, so that asking again stores nothing twice. */
static void serve_run(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);
    struct uuid_maker ids = {0};

    if (!visit_name(visit) || !visit_read(visit, NULL, NULL))
        return;
    const struct uuid id = uuid_make(&ids, visit_now(visit));

    pack_text(&pack, visit->parameter);
    pack_uuid(&pack, &id);
    visit_browse(visit, CALL_CRON_RUN, &pack);
}

struct pause_wish {
    const char *by;
};

static const struct value_field pause_fields[] = {
    VALUE_TEXT(pause_wish, by, .max = AUTHOR_MAX,
               .help = "Who pauses it, for whoever looks; absent: http@ADDRESS"),
    {.name = NULL},
};

static const struct value_field no_fields[] = {{.name = NULL}};

static void serve_pause(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);
    struct pause_wish wish = {0};
    char author[AUTHOR_SIZE];

    if (!visit_name(visit) || !visit_read(visit, NULL, &wish))
        return;
    pack_text(&pack, visit->parameter);
    pack_text(&pack, author_of(visit->request, wish.by, author));
    visit_browse(visit, CALL_CRON_PAUSE, &pack);
}

static void serve_resume(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);

    if (!visit_name(visit) || !visit_read(visit, NULL, NULL))
        return;
    pack_text(&pack, visit->parameter);
    visit_browse(visit, CALL_CRON_RESUME, &pack);
}

static const struct route routes[] = {
    {"GET", "/api/cron", RIGHT_READ, BODY_NONE, serve_list, .name = "listCron",
     .help = "The cron entries of this pool's config: in words, when they were and will be due",
     .answers = {{200, "Cron", NULL, "The entries"}}},
    {"POST", "/api/cron/{name}/run", RIGHT_WRITE, BODY_SHORT, serve_run, .fields = no_fields,
     .name = "runCron", .help = "Enqueue the job of an entry at once, beside its schedule",
     .answers = {{201, "CronRun", NULL, "Its job"},
                 {404, "Problem", "application/problem+json", "There is no such entry"},
                 {409, "Problem", "application/problem+json",
                  "A waiting job with its key is of another type"}}},
    {"POST", "/api/cron/{name}/pause", RIGHT_WRITE, BODY_SHORT, serve_pause, .fields = pause_fields,
     .name = "pauseCron",
     .help = "No pool runs the entry until it is resumed; what it missed is not made up for",
     .answers = {{200, "CronPaused", NULL, "It is paused"},
                 {404, "Problem", "application/problem+json", "There is no such entry"}}},
    {"POST", "/api/cron/{name}/resume", RIGHT_WRITE, BODY_SHORT, serve_resume, .fields = no_fields,
     .name = "resumeCron", .help = "Run a paused entry again",
     .answers = {{200, "CronPaused", NULL, "It is not paused"},
                 {404, "Problem", "application/problem+json", "There is no such entry"}}},
};

const struct route_table cron_routes = {routes, COUNT_OF(routes)};
