/*
 * queues.c - what is in the queues; pausing, resuming and hiding one.
 */
#include "api/author.h"
#include "api/endpoints.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "door/pack.h"

#define PACK_SHORT ((size_t)4096)

/* ---- looking ---- */

static void ask_for_all(struct visit *visit, enum call_kind kind)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);

    if (visit_read(visit, NULL, NULL))
        visit_browse(visit, kind, &pack);
}

static void serve_stats(struct visit *visit)
{
    ask_for_all(visit, CALL_STATS);
}

static void serve_queues(struct visit *visit)
{
    ask_for_all(visit, CALL_QUEUES);
}

/* ---- steering ---- */

struct pause_wish {
    const char *by;
    bool create;
};

static const struct value_field pause_fields[] = {
    VALUE_TEXT(pause_wish, by, .max = AUTHOR_MAX,
               .help = "Who pauses it, for whoever looks; absent: http@ADDRESS"),
    VALUE_FLAG(pause_wish, create, .help = "Pause it even if nobody has used it yet"),
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
    pack_flag(&pack, wish.create);
    visit_browse(visit, CALL_QUEUE_PAUSE, &pack);
}

static void ask_about(struct visit *visit, enum call_kind kind)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_SHORT);

    if (!visit_name(visit) || !visit_read(visit, NULL, NULL))
        return;
    pack_text(&pack, visit->parameter);
    visit_browse(visit, kind, &pack);
}

static void serve_resume(struct visit *visit)
{
    ask_about(visit, CALL_QUEUE_RESUME);
}

static void serve_hide(struct visit *visit)
{
    ask_about(visit, CALL_QUEUE_HIDE);
}

static const struct route routes[] = {
    {"GET", "/api/stats", RIGHT_READ, BODY_NONE, serve_stats, .name = "getStats",
     .help = "How many jobs of each queue are in each state, and of all of them",
     .answers = {{200, "Stats", NULL, "The counts"}}},
    {"GET", "/api/queues", RIGHT_READ, BODY_NONE, serve_queues, .name = "listQueues",
     .help = "The queues: what is in them, how fast it gets done, who serves them",
     .answers = {{200, "Queues", NULL, "Every queue that was ever used and is not hidden"}}},
    {"POST", "/api/queues/{name}/pause", RIGHT_WRITE, BODY_SHORT, serve_pause,
     .fields = pause_fields, .name = "pauseQueue",
     .help = "Stop serving a queue; what runs goes on",
     .answers = {{200, "QueuePaused", NULL, "It is paused"},
                 {404, "Problem", "application/problem+json", "Nobody uses such a queue"}}},
    {"POST", "/api/queues/{name}/resume", RIGHT_WRITE, BODY_SHORT, serve_resume,
     .fields = no_fields, .name = "resumeQueue", .help = "Serve a paused queue again",
     .answers = {{200, "QueuePaused", NULL, "It is not paused"},
                 {404, "Problem", "application/problem+json", "Nobody uses such a queue"}}},
    {"DELETE", "/api/queues/{name}", RIGHT_WRITE, BODY_NONE, serve_hide, .name = "hideQueue",
     .help = "Take an empty queue out of all lists, until its next job",
     .answers = {{204, NULL, NULL, "It is hidden"},
                 {404, "Problem", "application/problem+json", "There is no such queue"},
                 {409, "Problem", "application/problem+json", "It still has jobs"}}},
};

const struct route_table queue_routes = {routes, COUNT_OF(routes)};
