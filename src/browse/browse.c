/*
 * browse.c - `thd: browse`: the doors' way to the store for what people read and mend; it may be
 * slow.
 */
#include "browse/browse.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "browse/bulks.h"
#include "browse/looks.h"
#include "browse/pace.h"
#include "desk/desk.h"
#include "door/pack.h"
#include "door/page.h"
#include "process/meters.h"
#include "process/process.h"

/* A job with the longest payload there may be, each byte of it two in CSV. */
#define PAGE_MAX ((size_t)48 << 20)

struct browse {
    struct desk *desk;
    struct bulks *bulks; /* owned */
    struct pace pace;
};

/* Each kind of call has one look that answers it: looks.h. */
static const struct {
    enum call_kind kind;
    look_function look;
} looks[] = {
    {CALL_CRON, look_cron},
    {CALL_CRON_PAUSE, look_cron_pause},
    {CALL_CRON_RESUME, look_cron_resume},
    {CALL_CRON_RUN, look_cron_run},
    {CALL_DEAD_GROUPS, look_at_dead_groups},
    {CALL_GAUGES, look_at_gauges},
    {CALL_GLANCE, look_glance},
    {CALL_JOBS_LIST, look_at_jobs},
    {CALL_JOB_LOOK, look_at_job},
    {CALL_JOB_MEND, look_and_mend},
    {CALL_POOL_WANT, look_pool_want},
    {CALL_QUEUES, look_queues},
    {CALL_QUEUE_HIDE, look_queue_hide},
    {CALL_QUEUE_PAUSE, look_queue_pause},
    {CALL_QUEUE_RESUME, look_queue_resume},
    {CALL_STATS, look_stats},
    {CALL_TYPES, look_at_types},
    {CALL_WORKERS, look_workers},
};

static look_function find_look(enum call_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        if (looks[i].kind == kind)
            return looks[i].look;
    }
    return NULL;
}

static bool show_bulk(struct browse *browse, struct look *look, struct error *err)
{
    const char *id = unpack_word(&look->wish, BULK_ID_MAX);

    return unpack_end(&look->wish, "a bulk repair to look at", err) &&
           bulks_look(browse->bulks, id, look->body, err);
}

static bool answer(struct browse *browse, struct peer *peer, const struct call *call,
                   look_function function, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer body = BUFFER(PAGE_MAX);
    struct look look = {
        .store = desk_store(browse->desk),
        .process = desk_process(browse->desk),
        .pace = &browse->pace,
        .wish = unpack_begin(call->pack),
        .arena = &arena,
        .body = &body,
        .status = 200,
    };

    const usec_t begun_at = clock_boot();

    if (!(function ? function(&look, err) : show_bulk(browse, &look, err)) ||
        !buffer_ok(&body, err))
        return false;
    meters_add_store_work(look.process->meters, STORE_LOOK, begun_at);
    const struct page page = {
        .status = look.status,
        .body = {(const unsigned char *)body.data, body.length},
        .next = look.next,
    };

    return page_answer(peer, call->serial, &page, err);
}

/* A call that is answered now; one of a bulk repair is answered by those. */
static bool serve(struct browse *browse, struct peer *peer, const struct call *call,
                  struct error *err)
{
    const look_function function = find_look(call->kind);

    if (call->kind == CALL_BULK_BEGIN)
        return bulks_begin(browse->bulks, browse->desk, peer, call, err);
    if (!function && call->kind != CALL_BULK_LOOK)
        return error_set(err, TH_E_INTERNAL, "browse knows no call of the kind %d",
                         (int)call->kind);
    return answer(browse, peer, call, function, err);
}

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    struct browse *browse = context;
    struct error err;

    if (call->kind == CALL_FORGET)
        bulks_forget(browse->bulks, peer, call->serial);
    if (call->kind == CALL_CONFIRM || call->kind == CALL_FORGET)
        return;
    if (serve(browse, peer, call, &err))
        return;
    peer_refuse(peer, call->serial, &err);
    desk_note_failure(browse->desk, &err);
}

static void note_gone(void *context, struct peer *peer)
{
    struct browse *browse = context;

    bulks_forget(browse->bulks, peer, 0);
}

/* A page of a bulk repair; what came meanwhile is heard before the next one. */
static void take_turn(void *context)
{
    struct browse *browse = context;

    bulks_turn(browse->bulks, browse->desk);
    if (desk_store(browse->desk) && bulks_are_busy(browse->bulks))
        desk_rally(browse->desk);
}

static void note_lost(void *context, const struct error *err)
{
    struct browse *browse = context;

    bulks_suspend(browse->bulks, err);
}

static void note_found(void *context)
{
    struct browse *browse = context;

    if (bulks_are_busy(browse->bulks))
        desk_rally(browse->desk);
}

int browse_main(struct process *process)
{
    struct browse browse = {0};
    const struct desk_service service = {
        .called = note_call,
        .gone = note_gone,
        .turn = take_turn,
        .lost = note_lost,
        .found = note_found,
        .context = &browse,
    };
    struct error err;

    if (!bulks_open(clock_wall(), &browse.bulks, &err))
        return process_fail(&err);
    const int exit_code = desk_run(process, &service, &browse.desk);

    bulks_close(&browse.bulks);
    pace_done(&browse.pace);
    return exit_code;
}
