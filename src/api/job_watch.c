/*
 * job_watch.c - what those hear who listen to GET /api/jobs/{id}/events.
 *
 * The watches stand in a line. The first one's job is looked at when its time has come, and then it
 * goes to the end: so they come in the order of their times.
 *
 * Who joins looks first, so that a job that is not there is a 404. What that look has seen is news
 * for those who watch the job already.
 */
#include "api/job_watch.h"

#include "api/glance.h"
#include "api/inside.h"
#include "api/sse.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "door/calls.h"
#include "door/pack.h"
#include "http/stream.h"
#include "process/process.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY (150 * USEC_PER_MSEC)
#define LOOK_APART (10 * USEC_PER_MSEC) /* two looks, whatever at */
#define LOOK_AGAIN USEC_PER_SEC         /* while the store is away */
#define MARK_AFTER (100 * USEC_PER_MSEC)
#define MARK_AGAIN (5 * USEC_PER_SEC)
#define EVENT_MAX  ((size_t)8 << 20)
#define ASK_SIZE   ((size_t)64)

struct onlooker {
    struct job_watch *watch;
    struct http_stream *stream; /* owned until it is ended */
    struct onlooker *next, *before;
};

/* A job that somebody watches. */
struct job_watch {
    struct job_watches *watches;
    struct uuid id;
    struct onlooker *onlookers; /* owned */
    bool is_running;
    uint64_t record;      /* a hash of what was seen last */
    struct buffer output; /* as it was seen last */
    usec_t mark_at;       /* boot time: when browse is to say again that somebody looks on */
    struct job_watch *next, *before;
};

struct job_watches {
    struct api *api;
    struct job_watch *first, *last; /* owned */
    size_t count;
    struct job_watch *asked; /* is looked at; NULL: none, or nobody watches it any more */
    struct loop_timer timer, ping;
    uint64_t serial, last_id;
    usec_t asked_at;
    bool is_asking, is_ended;
};

/* ---- the line ---- */

static void enter(struct job_watch *watch)
{
    struct job_watches *watches = watch->watches;

    watch->next = NULL;
    watch->before = watches->last;
    if (watches->last)
        watches->last->next = watch;
    else
        watches->first = watch;
    watches->last = watch;
}

static void leave(struct job_watch *watch)
{
    struct job_watches *watches = watch->watches;

    if (watch->next)
        watch->next->before = watch->before;
    else
        watches->last = watch->before;
    if (watch->before)
        watch->before->next = watch->next;
    else
        watches->first = watch->next;
}

static struct job_watch *find(const struct job_watches *watches, const struct uuid *id)
{
    struct job_watch *watch = watches->first;

    while (watch && uuid_compare(&watch->id, id) != 0)
        watch = watch->next;
    return watch;
}

static void set_timer(struct job_watches *watches, usec_t after)
{
    loop_set_timer(watches->api->process->loop, &watches->timer, watches->asked_at + after);
}

/* Each is looked at so often, and one after the other. */
static usec_t pause_of(const struct job_watches *watches)
{
    const usec_t apart = LOOK_EVERY / (usec_t)watches->count;

    return apart < LOOK_APART ? LOOK_APART : apart;
}

/* ---- those who look on ---- */

static void stop(struct job_watches *watches)
{
    struct loop *loop = watches->api->process->loop;

    loop_clear_timer(loop, &watches->timer);
    loop_clear_timer(loop, &watches->ping);
    if (watches->is_asking)
        calls_forget(watches->api->peers[API_BROWSE], watches->serial);
    watches->is_asking = false;
}

static void end_watch(struct job_watch *watch)
{
    struct job_watches *watches = watch->watches;

    if (watches->asked == watch)
        watches->asked = NULL;
    leave(watch);
    buffer_done(&watch->output);
    free(watch);
    if (--watches->count == 0)
        stop(watches);
}

static void part(struct onlooker *onlooker)
{
    struct job_watch *watch = onlooker->watch;

    if (onlooker->next)
        onlooker->next->before = onlooker->before;
    if (onlooker->before)
        onlooker->before->next = onlooker->next;
    else
        watch->onlookers = onlooker->next;
    http_stream_end(onlooker->stream);
    free(onlooker);
    if (!watch->onlookers)
        end_watch(watch);
}

static void note_gone(void *context)
{
    part(context);
}

static struct bytes bytes_of(const struct buffer *text)
{
    return (struct bytes){(const unsigned char *)text->data, text->length};
}

static void tell(struct job_watch *watch, const struct buffer *text)
{
    struct http_piece *piece =
        text->failed || text->length == 0 ? NULL : http_piece_new(bytes_of(text));

    for (struct onlooker *it = watch->onlookers; piece && it; it = it->next)
        http_stream_share(it->stream, piece);
    http_piece_release(&piece);
}

/* The watch is gone with the last of them. */
static void dismiss(struct job_watch *watch, const char *reason)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);
    struct onlooker *next = watch->onlookers;

    sse_add_end(&text, ++watch->watches->last_id, reason);
    tell(watch, &text);
    while (next) {
        struct onlooker *onlooker = next;

        next = onlooker->next;
        part(onlooker);
    }
}

static void send_pings(void *context)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);
    struct job_watches *watches = context;

    buffer_text(&text, SSE_PING);
    for (struct job_watch *watch = watches->first; watch; watch = watch->next)
        tell(watch, &text);
    loop_set_timer(watches->api->process->loop, &watches->ping, clock_boot() + SSE_PING_EVERY);
}

/* ---- what is new ---- */

static void add_output(struct job_watches *watches, const struct glance *glance,
                       struct bytes before, struct buffer *text)
{
    CLEANUP(buffer_done) struct buffer json = BUFFER(EVENT_MAX);

    glance_add_news(glance, before, &json);
    if (json.length > 0 && !json.failed)
        sse_add(text, ++watches->last_id, "output", bytes_of(&json));
}

static void keep(struct job_watch *watch, const struct glance *glance)
{
    watch->is_running = glance->state == JOB_RUNNING;
    watch->record = glance_hash(glance);
    if (glance->output.length == 0)
        return;
    buffer_clear(&watch->output);
    buffer_add(&watch->output, glance->output.data, glance->output.length);
}

/* To those who know what was seen last. The watch may be gone after this. */
static void tell_news(struct job_watch *watch, const struct glance *glance)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);

    add_output(watch->watches, glance, bytes_of(&watch->output), &text);
    if (glance_hash(glance) != watch->record)
        sse_add(&text, ++watch->watches->last_id, "job", glance->record);
    keep(watch, glance);
    tell(watch, &text);
    if (job_state_has_ended(glance->state))
        dismiss(watch, "ended");
}

/* ---- looking ---- */

static void note_look(struct job_watches *watches, struct bytes pack, const struct error *err)
{
    struct job_watch *watch = watches->asked;
    struct glance glance;
    struct error wrong;

    watches->asked = NULL;
    if (!watch)
        return;
    if (err && err->code == TH_E_NOT_FOUND)
        dismiss(watch, "gone");
    else if (!err && glance_read(pack, &glance, &wrong))
        tell_news(watch, &glance);
}

static void note_answer(void *context, struct bytes pack, const struct error *err)
{
    struct job_watches *watches = context;
    const bool is_away = err && err->code != TH_E_NOT_FOUND;

    watches->is_asking = false;
    note_look(watches, pack, err);
    if (watches->count > 0)
        set_timer(watches, is_away ? LOOK_AGAIN : pause_of(watches));
}

/* Only what runs has more to tell to those who look on. */
static bool is_mark_due(struct job_watch *watch)
{
    const usec_t now = clock_boot();

    if (!watch->is_running || now < watch->mark_at)
        return false;
    watch->mark_at = now + MARK_AGAIN;
    return true;
}

static void look(void *context)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(ASK_SIZE);
    struct job_watches *watches = context;
    struct job_watch *watch = watches->first;
    struct error err;

    leave(watch);
    enter(watch);
    pack_uuid(&pack, &watch->id);
    pack_flag(&pack, is_mark_due(watch));
    const struct call_wish wish = {
        .kind = CALL_GLANCE,
        .pack = bytes_of(&pack),
        .may_be_repeated = true,
        .answered = note_answer,
        .context = watches,
    };

    watches->asked_at = clock_boot();
    watches->is_asking = calls_send(watches->api->peers[API_BROWSE], &wish, &watches->serial, &err);
    watches->asked = watches->is_asking ? watch : NULL;
    if (!watches->is_asking)
        set_timer(watches, LOOK_AGAIN);
}

/* ---- joining ---- */

static struct job_watch *open_watch(struct job_watches *watches, const struct uuid *id,
                                    const struct glance *glance)
{
    struct job_watch *watch = malloc(sizeof *watch);

    if (!watch)
        return NULL;
    *watch = (struct job_watch){
        .watches = watches,
        .id = *id,
        .output = BUFFER(GLANCE_OUTPUT_MAX),
        .mark_at = clock_boot() + MARK_AFTER,
    };
    keep(watch, glance);
    enter(watch);
    if (watches->count++ > 0)
        return watch;
    watches->asked_at = clock_boot();
    set_timer(watches, LOOK_EVERY);
    loop_set_timer(watches->api->process->loop, &watches->ping, clock_boot() + SSE_PING_EVERY);
    return watch;
}

/* Somebody may watch this job already, and does until its end. */
static struct job_watch *find_watch(struct job_watches *watches, const struct uuid *id,
                                    const struct glance *glance)
{
    struct job_watch *watch = find(watches, id);

    if (watch)
        tell_news(watch, glance);
    watch = find(watches, id);
    return watch ? watch : open_watch(watches, id, glance);
}

static void add(struct job_watch *watch, struct onlooker *onlooker)
{
    onlooker->watch = watch;
    onlooker->next = watch->onlookers;
    if (onlooker->next)
        onlooker->next->before = onlooker;
    watch->onlookers = onlooker;
}

static void greet(struct onlooker *onlooker, const struct glance *glance)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);
    struct job_watches *watches = onlooker->watch->watches;

    sse_add(&text, ++watches->last_id, "job", glance->record);
    add_output(watches, glance, (struct bytes){0}, &text);
    if (!text.failed)
        http_stream_write(onlooker->stream, bytes_of(&text));
}

/* The pack is the visit's no more once it streams, but lasts as long as this call. */
static void begin(struct visit *visit, const struct uuid *id, const struct glance *glance)
{
    struct job_watches *watches = visit->api->job_watches;
    struct onlooker *onlooker = calloc(1, sizeof *onlooker);
    const struct http_stream_events events = {.gone = note_gone, .context = onlooker};
    struct http_response head = sse_head();
    struct job_watch *watch = onlooker ? find_watch(watches, id, glance) : NULL;

    if (!watch) {
        free(onlooker);
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    onlooker->stream = visit_stream(visit, &head, &events);
    if (!onlooker->stream) {
        free(onlooker);
        if (!watch->onlookers)
            end_watch(watch);
        return;
    }
    add(watch, onlooker);
    greet(onlooker, glance);
    if (job_state_has_ended(glance->state))
        dismiss(watch, "ended");
}

static void note_first(struct visit *visit, struct bytes pack)
{
    const struct uuid id = *(const struct uuid *)visit->data; /* the visit ends first */
    struct glance glance;
    struct error err;

    if (visit->api->job_watches->is_ended)
        visit_refuse(visit, 503, NULL, "this process ends");
    else if (glance_read(pack, &glance, &err))
        begin(visit, &id, &glance);
    else
        visit_refuse_error(visit, &err);
}

void job_watches_join(struct job_watches *watches, struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(ASK_SIZE);
    struct uuid *id = arena_alloc(&visit->arena, sizeof *id);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_GLANCE,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = note_first,
    };

    if (!id || watches->is_ended) {
        visit_refuse(visit, 503, NULL, id ? "this process ends" : "out of memory");
        return;
    }
    if (!visit_id(visit, id) || !visit_read(visit, NULL, NULL))
        return;
    visit->data = id;
    pack_uuid(&pack, id);
    pack_flag(&pack, false);
    visit_ask(visit, &question);
}

void job_watches_end(struct job_watches *watches)
{
    watches->is_ended = true;
    while (watches->first)
        dismiss(watches->first, "restart");
}

/* ---- its life ---- */

bool job_watches_open(struct api *api, struct job_watches **watches_out, struct error *err)
{
    struct job_watches *watches = malloc(sizeof *watches);

    if (!watches)
        return error_no_memory(err);
    *watches = (struct job_watches){
        .api = api,
        .timer = {.call = look, .context = watches},
        .ping = {.call = send_pings, .context = watches},
    };
    *watches_out = watches;
    return true;
}

void job_watches_close(struct job_watches **watches)
{
    if (!*watches)
        return;
    while ((*watches)->first)
        dismiss((*watches)->first, "restart");
    free(*watches);
    *watches = NULL;
}
