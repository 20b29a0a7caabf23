/*
 * browse.c - `thd: browse`: the doors' way to the store for what people read and mend; it may be
 * slow.
 */
#include "browse/browse.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "browse/looks.h"
#include "browse/pace.h"
#include "desk/desk.h"
#include "door/pack.h"
#include "door/page.h"

#define PAGE_MAX ((size_t)32 << 20)

struct browse {
    struct desk *desk;
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
    {CALL_GLANCE, look_glance},
    {CALL_QUEUES, look_queues},
    {CALL_QUEUE_HIDE, look_queue_hide},
    {CALL_QUEUE_PAUSE, look_queue_pause},
    {CALL_QUEUE_RESUME, look_queue_resume},
    {CALL_STATS, look_stats},
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

static bool answer(struct browse *browse, struct peer *peer, const struct call *call,
                   look_function function, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer body = BUFFER(PAGE_MAX);
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    struct look look = {
        .store = desk_store(browse->desk),
        .process = desk_process(browse->desk),
        .pace = &browse->pace,
        .wish = unpack_begin(call->pack),
        .arena = &arena,
        .body = &body,
        .status = 200,
    };

    if (!function(&look, err) || !buffer_ok(&body, err))
        return false;
    const struct page page = {
        .status = look.status,
        .body = {(const unsigned char *)body.data, body.length},
        .next = look.next,
    };

    page_pack(&pack, &page);
    if (!buffer_ok(&pack, err))
        return false;
    peer_answer(peer, call->serial, (struct bytes){(const unsigned char *)pack.data, pack.length});
    return true;
}

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    struct browse *browse = context;
    const look_function function = find_look(call->kind);
    struct error err;

    if (call->kind == CALL_CONFIRM || call->kind == CALL_FORGET)
        return;
    if (!function)
        error_set(&err, TH_E_INTERNAL, "browse knows no call of the kind %d", (int)call->kind);
    else if (answer(browse, peer, call, function, &err))
        return;
    peer_refuse(peer, call->serial, &err);
    if (function)
        desk_note_failure(browse->desk, &err);
}

int browse_main(struct process *process)
{
    struct browse browse = {0};
    const struct desk_service service = {.called = note_call, .context = &browse};

    const int exit_code = desk_run(process, &service, &browse.desk);

    pace_done(&browse.pace);
    return exit_code;
}
