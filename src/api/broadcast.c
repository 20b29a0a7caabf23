/*
 * broadcast.c - what all who listen to GET /api/events hear.
 *
 *   timer     every      while somebody listens
 *   second    1 s        browse is asked for the counts; never twice at once
 *   tick      100 ms     what has become of jobs is read, and wanted for a while longer
 *   ping      15 s
 *
 * A listener is fresh until it has had its snapshot: it hears nothing before. The snapshot is that
 * of the latest second, so that ten thousand who come at once are one question.
 */
#include "api/broadcast.h"

#include "api/inside.h"
#include "api/sse.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "door/calls.h"
#include "door/page.h"
#include "http/stream.h"
#include "process/news_ring.h"
#include "process/process.h"

#include <stdio.h>
#include <stdlib.h>

#define TICK      (100 * USEC_PER_MSEC)
#define WANTED    (2 * USEC_PER_SEC) /* for so long if no further tick comes */
#define TICK_MOST 50                 /* events; more than that nobody reads */
#define EVENT_MAX ((size_t)32 << 20)

struct listener {
    struct broadcast *broadcast;
    struct http_stream *stream; /* owned until it is ended */
    bool is_fresh;
    struct listener *next, *before;
};

struct broadcast {
    struct api *api;
    struct listener *listeners; /* owned */
    struct loop_timer second, tick, ping;
    uint64_t last_id;

    bool is_asking, is_away, is_ended;
    uint64_t serial; /* of the question */
    usec_t asked_at;
    struct buffer stats;         /* the latest; empty: none since somebody listens */
    struct http_piece *snapshot; /* made of them when somebody wants it */
    struct news_reader news;
};

/* ---- to everybody ---- */

enum audience {
    FRESH,
    SETTLED,
    EVERYBODY,
};

static bool is_meant(const struct listener *listener, enum audience audience)
{
    return audience == EVERYBODY || listener->is_fresh == (audience == FRESH);
}

/* One that cannot have it is dropped: its stream says so by itself. */
static void share(struct broadcast *broadcast, enum audience audience, struct http_piece *piece)
{
    for (struct listener *listener = broadcast->listeners; listener; listener = listener->next) {
        if (is_meant(listener, audience))
            http_stream_share(listener->stream, piece);
    }
}

/* Out of memory is one event less. */
static void send_text(struct broadcast *broadcast, enum audience audience,
                      const struct buffer *text)
{
    struct http_piece *piece =
        text->failed || text->length == 0
            ? NULL
            : http_piece_new((struct bytes){(const unsigned char *)text->data, text->length});

    if (piece)
        share(broadcast, audience, piece);
    http_piece_release(&piece);
}

static void send_event(struct broadcast *broadcast, enum audience audience, const char *event,
                       struct bytes json)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);

    sse_add(&text, ++broadcast->last_id, event, json);
    send_text(broadcast, audience, &text);
}

static void send_ping(void *context)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);
    struct broadcast *broadcast = context;

    buffer_text(&text, SSE_PING);
    send_text(broadcast, EVERYBODY, &text);
    loop_set_timer(broadcast->api->process->loop, &broadcast->ping, clock_boot() + SSE_PING_EVERY);
}

/* ---- the counts ---- */

static struct bytes latest(const struct broadcast *broadcast)
{
    return (struct bytes){(const unsigned char *)broadcast->stats.data, broadcast->stats.length};
}

static void make_snapshot(struct broadcast *broadcast)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);

    if (broadcast->snapshot || broadcast->stats.length == 0)
        return;
    sse_add(&text, ++broadcast->last_id, "snapshot", latest(broadcast));
    if (!text.failed)
        broadcast->snapshot =
            http_piece_new((struct bytes){(const unsigned char *)text.data, text.length});
}

static void welcome(struct broadcast *broadcast, struct listener *listener)
{
    if (!listener->is_fresh)
        return;
    make_snapshot(broadcast);
    if (broadcast->snapshot)
        listener->is_fresh = !http_stream_share(listener->stream, broadcast->snapshot);
}

static void forget_stats(struct broadcast *broadcast)
{
    buffer_done(&broadcast->stats);
    http_piece_release(&broadcast->snapshot);
}

static void note_stats(struct broadcast *broadcast, struct bytes stats)
{
    broadcast->is_away = false;
    http_piece_release(&broadcast->snapshot);
    buffer_clear(&broadcast->stats);
    buffer_add(&broadcast->stats, stats.data, stats.length);
    if (broadcast->stats.failed) {
        forget_stats(broadcast);
        return;
    }
    send_event(broadcast, SETTLED, "stats", stats);
    for (struct listener *listener = broadcast->listeners; listener; listener = listener->next)
        welcome(broadcast, listener);
}

static void note_away(struct broadcast *broadcast, const struct error *err)
{
    CLEANUP(buffer_done) struct buffer data = BUFFER(EVENT_MAX);
    struct json_writer json = {.out = &data};

    forget_stats(broadcast); /* whoever comes now is not told what was */
    if (broadcast->is_away)
        return;
    broadcast->is_away = true;
    json_write_open(&json, NULL, '{');
    json_write_text(&json, "error", error_code_name(err->code));
    json_write_text(&json, "message", err->text);
    json_write_close(&json, '}');
    if (!data.failed)
        send_event(broadcast, SETTLED, "unavailable",
                   (struct bytes){(const unsigned char *)data.data, data.length});
}

static void note_answer(void *context, struct bytes pack, const struct error *err)
{
    struct broadcast *broadcast = context;
    const usec_t next = broadcast->asked_at + USEC_PER_SEC;
    struct error wrong;
    struct page page;

    broadcast->is_asking = false;
    if (err)
        note_away(broadcast, err);
    else if (page_unpack(pack, &page, &wrong))
        note_stats(broadcast, page.body);
    else
        note_away(broadcast, &wrong);
    loop_set_timer(broadcast->api->process->loop, &broadcast->second, next);
}

static void ask(void *context)
{
    static const unsigned char nothing[1];
    struct broadcast *broadcast = context;
    const struct call_wish wish = {
        .kind = CALL_STATS,
        .pack = {nothing, 0},
        .may_be_repeated = true,
        .answered = note_answer,
        .context = broadcast,
    };
    struct error err;

    broadcast->asked_at = clock_boot();
    broadcast->is_asking =
        calls_send(broadcast->api->peers[API_BROWSE], &wish, &broadcast->serial, &err);
    if (broadcast->is_asking)
        return;
    note_away(broadcast, &err);
    loop_set_timer(broadcast->api->process->loop, &broadcast->second,
                   broadcast->asked_at + USEC_PER_SEC);
}

/* ---- jobs ---- */

static void write_optional(struct json_writer *json, const char *name, int64_t number,
                           bool is_there)
{
    if (is_there)
        json_write_int(json, name, number);
    else
        json_write_null(json, name);
}

static void add_job(struct broadcast *broadcast, const struct news *news, struct buffer *out)
{
    CLEANUP(buffer_done) struct buffer data = BUFFER(EVENT_MAX);
    struct json_writer json = {.out = &data};
    char id[UUID_TEXT_SIZE];

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "event", news_kind_name(news->kind));
    json_write_time(&json, "at", news->at);
    json_write_text(&json, "job", uuid_format(&news->job, id));
    json_write_text(&json, "type", news->type);
    json_write_text(&json, "queue", news->queue);
    write_optional(&json, "attempt", news->attempt, news->attempt > 0);
    write_optional(&json, "worker", news->worker, news->worker > 0);
    write_optional(&json, "ms", news->wall / USEC_PER_MSEC, news->wall >= 0);
    json_write_time(&json, "run_at", news->run_at);
    json_write_text(&json, "error", news->error[0] != '\0' ? news->error : NULL);
    json_write_close(&json, '}');
    if (!data.failed)
        sse_add(out, ++broadcast->last_id, "job",
                (struct bytes){(const unsigned char *)data.data, data.length});
}

static void add_dropped(struct broadcast *broadcast, uint64_t dropped, struct buffer *out)
{
    char data[64];

    if (dropped == 0)
        return;
    const int length = snprintf(data, sizeof data, "{\"dropped\":%" PRIu64 "}", dropped);

    sse_add(out, ++broadcast->last_id, "dropped",
            (struct bytes){(const unsigned char *)data, (size_t)length});
}

static void tell_jobs(struct broadcast *broadcast)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);
    const struct news_ring *ring = broadcast->api->process->news_ring;
    uint64_t count = 0, dropped = 0;
    struct news news;

    while (news_ring_read(ring, &broadcast->news, &news, &dropped)) {
        if (count++ < TICK_MOST)
            add_job(broadcast, &news, &text);
        else
            dropped++;
    }
    add_dropped(broadcast, dropped, &text);
    send_text(broadcast, SETTLED, &text);
}

static void tick(void *context)
{
    struct broadcast *broadcast = context;
    const usec_t now = clock_boot();

    news_ring_want(broadcast->api->process->news_ring, now + WANTED);
    tell_jobs(broadcast);
    loop_set_timer(broadcast->api->process->loop, &broadcast->tick, now + TICK);
}

/* ---- who listens ---- */

static void begin(struct broadcast *broadcast)
{
    broadcast->news = news_ring_begin(broadcast->api->process->news_ring);
    broadcast->is_away = false;
    tick(broadcast);
    ask(broadcast);
    loop_set_timer(broadcast->api->process->loop, &broadcast->ping, clock_boot() + SSE_PING_EVERY);
}

static void stop(struct broadcast *broadcast)
{
    struct loop *loop = broadcast->api->process->loop;

    loop_clear_timer(loop, &broadcast->second);
    loop_clear_timer(loop, &broadcast->tick);
    loop_clear_timer(loop, &broadcast->ping);
    if (broadcast->is_asking)
        calls_forget(broadcast->api->peers[API_BROWSE], broadcast->serial);
    broadcast->is_asking = false;
    forget_stats(broadcast);
}

static void add(struct broadcast *broadcast, struct listener *listener)
{
    const bool is_first = !broadcast->listeners;

    listener->next = broadcast->listeners;
    if (listener->next)
        listener->next->before = listener;
    broadcast->listeners = listener;
    if (is_first)
        begin(broadcast);
}

static void part(struct listener *listener)
{
    struct broadcast *broadcast = listener->broadcast;

    if (listener->next)
        listener->next->before = listener->before;
    if (listener->before)
        listener->before->next = listener->next;
    else
        broadcast->listeners = listener->next;
    http_stream_end(listener->stream);
    free(listener);
    if (!broadcast->listeners)
        stop(broadcast);
}

static void note_gone(void *context)
{
    part(context);
}

void broadcast_join(struct broadcast *broadcast, struct visit *visit)
{
    struct listener *listener = broadcast->is_ended ? NULL : malloc(sizeof *listener);
    struct http_response head = sse_head();

    if (!listener) {
        visit_refuse(visit, 503, NULL, broadcast->is_ended ? "this process ends" : "out of memory");
        return;
    }
    const struct http_stream_events events = {.gone = note_gone, .context = listener};

    *listener = (struct listener){.broadcast = broadcast, .is_fresh = true};
    listener->stream = visit_stream(visit, &head, &events);
    if (!listener->stream) {
        free(listener);
        return;
    }
    add(broadcast, listener);
    welcome(broadcast, listener);
}

void broadcast_end(struct broadcast *broadcast)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(EVENT_MAX);

    broadcast->is_ended = true;
    sse_add_end(&text, ++broadcast->last_id, "restart");
    send_text(broadcast, EVERYBODY, &text);
    while (broadcast->listeners)
        part(broadcast->listeners);
}

/* ---- its life ---- */

bool broadcast_open(struct api *api, struct broadcast **broadcast_out, struct error *err)
{
    struct broadcast *broadcast = malloc(sizeof *broadcast);

    if (!broadcast)
        return error_no_memory(err);
    *broadcast = (struct broadcast){
        .api = api,
        .second = {.call = ask, .context = broadcast},
        .tick = {.call = tick, .context = broadcast},
        .ping = {.call = send_ping, .context = broadcast},
        .stats = BUFFER(EVENT_MAX),
    };
    *broadcast_out = broadcast;
    return true;
}

void broadcast_close(struct broadcast **broadcast)
{
    if (!*broadcast)
        return;
    while ((*broadcast)->listeners)
        part((*broadcast)->listeners);
    stop(*broadcast);
    free(*broadcast);
    *broadcast = NULL;
}
