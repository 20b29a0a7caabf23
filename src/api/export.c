/*
 * export.c - all jobs that fit, in full.
 *
 * The first page is asked for by the visit: whatever is wrong before it has its status. Later it is
 * too late for one: an export that cannot go on is cut off, so that its client sees that something
 * is missing. It goes on after browse, or the store behind it, was away for a while.
 */
#include "api/export.h"

#include "api/inside.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "door/calls.h"
#include "door/job_query.h"
#include "door/pack.h"
#include "door/page.h"
#include "http/stream.h"
#include "process/process.h"

#include <stdio.h>
#include <stdlib.h>

#define PATIENCE    (30 * USEC_PER_SEC) /* with browse, for one page */
#define AGAIN_AFTER (250 * USEC_PER_MSEC)
#define QUERY_MAX   ((size_t)16 << 10)

struct outflow {
    struct calls *browse;
    struct loop *loop;
    struct http_stream *stream;
    struct job_query query; /* `after` is where it goes on; NULL: it does not */
    struct arena arena;     /* what the query points into, but for `after` */
    char after[JOB_QUERY_AFTER_LENGTH + 1];

    bool is_asking;
    uint64_t serial; /* of the call, while it is asking */
    usec_t since;    /* the page that is due was asked for then */
    struct loop_timer again;
};

static void close_outflow(struct outflow *outflow)
{
    if (outflow->is_asking)
        calls_forget(outflow->browse, outflow->serial);
    loop_clear_timer(outflow->loop, &outflow->again);
    arena_done(&outflow->arena);
    free(outflow);
}

static void give_up(struct outflow *outflow, const struct error *err)
{
    log_warning("export_cut_off", "error=%s", err->text);
    http_stream_break(outflow->stream);
    close_outflow(outflow);
}

/* ---- pages ---- */

static void take_answer(void *context, struct bytes pack, const struct error *err);

static bool send_call(struct outflow *outflow, struct error *err)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(QUERY_MAX);
    struct call_wish wish = {
        .kind = CALL_JOBS_LIST,
        .may_be_repeated = true,
        .answered = take_answer,
        .context = outflow,
    };

    job_query_pack(&pack, &outflow->query);
    wish.pack = (struct bytes){(const unsigned char *)buffer_str(&pack), pack.length};
    return buffer_ok(&pack, err) && calls_send(outflow->browse, &wish, &outflow->serial, err);
}

static bool may_pass(const struct outflow *outflow, const struct error *err)
{
    return (err->code == TH_E_UNAVAILABLE || err->code == TH_E_UNCERTAIN) &&
           clock_boot() < outflow->since + PATIENCE;
}

static void note_failure(struct outflow *outflow, const struct error *err)
{
    if (may_pass(outflow, err))
        loop_set_timer(outflow->loop, &outflow->again, clock_boot() + AGAIN_AFTER);
    else
        give_up(outflow, err);
}

static void ask_again(void *context)
{
    struct outflow *outflow = context;
    struct error err;

    outflow->is_asking = send_call(outflow, &err);
    if (!outflow->is_asking)
        note_failure(outflow, &err);
}

static void ask(struct outflow *outflow)
{
    outflow->since = clock_boot();
    ask_again(outflow);
}

/* Writes it, and remembers where to go on. Without a next page that is the end. */
static void take_page(struct outflow *outflow, const struct page *page)
{
    const bool is_empty = page->body.length == 0;

    outflow->query.after = NULL;
    if (page->next) {
        snprintf(outflow->after, sizeof outflow->after, "%s", page->next);
        outflow->query.after = outflow->after;
    }
    http_stream_write(outflow->stream, page->body); /* if it is over, we hear of it */
    if (!page->next) {
        http_stream_end(outflow->stream);
        close_outflow(outflow);
    } else if (is_empty) {
        ask(outflow); /* nothing was written that could make room */
    }
}

static void take_answer(void *context, struct bytes pack, const struct error *err)
{
    struct outflow *outflow = context;
    struct error defect;
    struct page page;

    outflow->is_asking = false;
    if (err)
        note_failure(outflow, err);
    else if (!page_unpack(pack, &page, &defect))
        give_up(outflow, &defect);
    else
        take_page(outflow, &page);
}

/* ---- the client ---- */

static void note_room(void *context)
{
    struct outflow *outflow = context;

    if (!outflow->is_asking && !outflow->again.is_on && outflow->query.after)
        ask(outflow);
}

static void note_gone(void *context)
{
    struct outflow *outflow = context;

    http_stream_end(outflow->stream);
    close_outflow(outflow);
}

/* ---- its beginning ---- */

static struct job_query keep(const struct job_query *query, struct arena *arena)
{
    struct job_query kept = *query;

    kept.queue = arena_text(arena, query->queue);
    kept.type = arena_text(arena, query->type);
    kept.tag = arena_text(arena, query->tag);
    kept.key = arena_text(arena, query->key);
    kept.error = arena_text(arena, query->error);
    return kept;
}

static struct outflow *open_outflow(const struct visit *visit)
{
    struct outflow *outflow = calloc(1, sizeof *outflow);

    if (!outflow)
        return NULL;
    outflow->browse = visit->api->peers[API_BROWSE];
    outflow->loop = visit->api->process->loop;
    outflow->query = keep(visit->data, &outflow->arena);
    outflow->again = (struct loop_timer){.call = ask_again, .context = outflow};
    if (!outflow->arena.failed)
        return outflow;
    close_outflow(outflow);
    return NULL;
}

static bool begin_stream(struct outflow *outflow, struct visit *visit)
{
    struct http_response head = {
        .status = 200,
        .type = outflow->query.form == JOB_QUERY_CSV ? "text/csv; charset=utf-8"
                                                     : "application/x-ndjson",
    };
    const struct http_stream_events events = {
        .room = note_room, .gone = note_gone, .context = outflow};

    outflow->stream = visit_stream(visit, &head, &events);
    return outflow->stream != NULL;
}

static void begin(struct visit *visit, struct bytes pack)
{
    struct page page;
    struct error err;

    if (!page_unpack(pack, &page, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    struct outflow *outflow = open_outflow(visit);
    if (!outflow) {
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    if (begin_stream(outflow, visit))
        take_page(outflow, &page);
    else
        close_outflow(outflow);
}

void export_begin(struct visit *visit, const struct job_query *query)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(QUERY_MAX);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_JOBS_LIST,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = begin,
    };
    struct job_query *kept = arena_alloc(&visit->arena, sizeof *kept);

    if (!kept) {
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    *kept = *query;
    kept->full = true;
    kept->limit = JOB_QUERY_LIMIT_MAX;
    visit->data = kept;
    job_query_pack(&pack, kept);
    visit_ask(visit, &question);
}
