/*
 * bulk.c - /api/bulk, and what is done to many dead jobs: the same thing, under another name.
 */
#include "api/endpoints.h"
#include "api/picks.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "door/pack.h"
#include "job/state.h"

#include <string.h>

#define PACK_MAX_BULK ((size_t)64 << 10)
#define PATIENCE      (20 * USEC_PER_SEC) /* jobs are counted before it is answered */
#define ID_MAX        63
#define PROBLEM       "Problem", "application/problem+json"

struct bulk_wish {
    int action; /* enum job_mend */
    struct job_query filter;
    struct value_ids ids;
    bool dry_run;
};

/* The words of a filter may also stand in the body itself. */
struct dead_wish {
    const char *queue, *type, *tag, *key, *error;
    usec_t since, until;
    struct job_query filter;
    bool dry_run;
};

static const char *const actions[] = {
    [JOB_CANCEL] = "cancel", [JOB_RETRY_AGAIN] = "retry", [JOB_RUN_NOW] = "run",
    [JOB_DELETE] = "delete", [JOB_MENDS] = NULL,
};

/* clang-format off */
static const struct value_field filter_fields[] = {
    PICK_STATE(job_query),
    PICK_ROWS(job_query),
    {.name = NULL},
};

static const struct value_field dead_filter_fields[] = {
    PICK_ROWS(job_query),
    {.name = NULL},
};

static const struct value_field bulk_fields[] = {
    VALUE_WORD  (bulk_wish, action, .is_required = true, .words = actions,
                 .help = "cancel: unfinished jobs; retry: dead ones; run: scheduled and retry; delete: dead ones; or those of the state in the filter"),
    VALUE_OBJECT(bulk_wish, filter, job_query, .fields = filter_fields, .help = "Which jobs; {} is all"),
    VALUE_IDS   (bulk_wish, ids, .min = 1, .max = JOB_IDS_MAX, .help = "Or these"),
    VALUE_FLAG  (bulk_wish, dry_run, .help = "Only say how many there are"),
    {.name = NULL},
};

static const struct value_field dead_fields[] = {
    PICK_ROWS(dead_wish),
    VALUE_OBJECT(dead_wish, filter, job_query, .fields = dead_filter_fields, .help = "The same words, as POST /api/bulk has them"),
    VALUE_FLAG  (dead_wish, dry_run, .help = "Only say how many there are"),
    {.name = NULL},
};
/* clang-format on */

/* ---- begin ---- */

static void ask(struct visit *visit, const struct bulk_wish *wish)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_BULK);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_BULK_BEGIN,
        .pack = &pack,
        .may_be_repeated = true, /* nothing is done before it is answered */
        .patience = PATIENCE,
        .field = "/filter/state",
        .answered = visit_relay,
    };

    pack_number(&pack, wish->action);
    pack_flag(&pack, wish->dry_run);
    job_query_pack(&pack, &wish->filter);
    pack_count(&pack, wish->ids.count);
    for (size_t i = 0; i < wish->ids.count; i++)
        pack_uuid(&pack, &wish->ids.items[i]);
    visit_ask(visit, &question);
}

/* A filter may be empty, and is there even so. */
static bool has_member(struct visit *visit, const char *name)
{
    struct json_members members;
    struct error ignored;

    if (visit->request->body.length == 0 ||
        !json_split_object(visit->request->body, &visit->arena, &members, &ignored))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        if (text_equal(members.items[i].name, name))
            return !json_means_null(members.items[i].value);
    }
    return false;
}

static void begin_bulk(struct visit *visit)
{
    struct bulk_wish wish = {.filter = JOB_QUERY_ALL};

    if (!visit_read(visit, NULL, &wish))
        return;
    const bool by_filter = has_member(visit, "filter");

    if (by_filter && wish.ids.count > 0)
        visit_refuse(visit, 400, "/ids", "filter and ids exclude each other: give one of them");
    else if (!by_filter && wish.ids.count == 0)
        visit_refuse(visit, 400, "/filter", "give a filter, which may be {}, or ids");
    else
        ask(visit, &wish);
}

static bool has_own_words(const struct dead_wish *wish)
{
    return wish->queue || wish->type || wish->tag || wish->key || wish->error || wish->since != 0 ||
           wish->until != 0;
}

static void take_own_words(struct dead_wish *wish)
{
    struct job_query *filter = &wish->filter;

    filter->queue = wish->queue;
    filter->type = wish->type;
    filter->tag = wish->tag;
    filter->key = wish->key;
    filter->error = wish->error;
    filter->since = wish->since;
    filter->until = wish->until;
}

static void begin_for_dead(struct visit *visit, enum job_mend action)
{
    struct dead_wish wish = {.filter = JOB_QUERY_ALL};

    if (!visit_read(visit, NULL, &wish))
        return;
    if (has_own_words(&wish) && has_member(visit, "filter")) {
        visit_refuse(visit, 400, "/filter",
                     "the words of the filter stand in it or beside it, not in both places");
        return;
    }
    if (has_own_words(&wish))
        take_own_words(&wish);
    wish.filter.state = JOB_DEAD;
    const struct bulk_wish bulk = {
        .action = action, .filter = wish.filter, .dry_run = wish.dry_run};

    ask(visit, &bulk);
}

static void retry_all_dead(struct visit *visit)
{
    begin_for_dead(visit, JOB_RETRY_AGAIN);
}

static void delete_all_dead(struct visit *visit)
{
    begin_for_dead(visit, JOB_DELETE);
}

/* ---- looks ---- */

static void answer_bulk(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_BULK);

    if (!visit_read(visit, NULL, NULL))
        return;
    if (strlen(visit->parameter) > ID_MAX) {
        visit_refuse(visit, 404, NULL, "no bulk repair has the id '%.64s'", visit->parameter);
        return;
    }
    pack_text(&pack, visit->parameter);
    visit_browse(visit, CALL_BULK_LOOK, &pack);
}

static void answer_groups(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX_BULK);

    if (visit_read(visit, NULL, NULL))
        visit_browse(visit, CALL_DEAD_GROUPS, &pack);
}

#define BULK_ANSWERS                                                                               \
    {                                                                                              \
        {200, "BulkCount", NULL, "How many it would be (dry_run)"},                                \
            {202, "BulkBegun", NULL, "It has begun: look at it by its id"},                        \
    }

static const struct route routes[] = {
    {"POST", "/api/bulk", RIGHT_WRITE, BODY_SHORT, begin_bulk, .fields = bulk_fields,
     .name = "beginBulk",
     .help = "Cancel, retry, run or delete many jobs: those that are in their state now",
     .answers = BULK_ANSWERS},
    {"GET", "/api/bulk/{id}", RIGHT_READ, BODY_NONE, answer_bulk, .name = "getBulk",
     .help = "How far a bulk repair is",
     .answers = {{200, "Bulk", NULL, "So far"}, {404, PROBLEM, "There was none of this id"}}},
    {"GET", "/api/dead/groups", RIGHT_READ, BODY_NONE, answer_groups, .name = "listDeadGroups",
     .help = "What the newest 1,000 dead jobs died of: those of one type with one kind of error",
     .answers = {{200, "DeadGroups", NULL, "The largest first"}}},
    {"POST", "/api/dead/retry", RIGHT_WRITE, BODY_SHORT, retry_all_dead, .fields = dead_fields,
     .name = "retryDead", .help = "Let the dead jobs that fit run again", .answers = BULK_ANSWERS},
    {"POST", "/api/dead/delete", RIGHT_WRITE, BODY_SHORT, delete_all_dead, .fields = dead_fields,
     .name = "deleteDead", .help = "Delete the dead jobs that fit", .answers = BULK_ANSWERS},
};

const struct route_table bulk_routes = {routes, COUNT_OF(routes)};
