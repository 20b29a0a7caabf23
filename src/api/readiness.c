/*
 * readiness.c - GET /ready: whether this pool can do what it is for, and if not, why.
 *
 * The reasons are for anybody, so they have no names, addresses or errors of the store in them.
 */
#include "api/readiness.h"

#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "door/calls.h"

#include <stdio.h>
#include <stdlib.h>

#define PATIENCE   (2 * USEC_PER_SEC)
#define ANSWER_MAX ((size_t)1024)

/* Somebody who waits for the end of a round. */
struct asker {
    struct asker *next;
    struct visit *visit;
};

struct ping {
    struct readiness *readiness;
    bool is_open;
    enum th_error_code code; /* of the last one */
};

struct readiness {
    struct calls *peers[READINESS_PEERS];
    struct ping pings[READINESS_PEERS];
    enum pool_phase phase;
    struct asker *askers; /* owned; for this round */
};

static const char *const names[READINESS_PEERS] = {"gate", "browse"};

/* ---- the answer ---- */

static void add_phase(const struct readiness *readiness, struct json_writer *json)
{
    switch (readiness->phase) {
    case PHASE_OF_START:
        json_write_text(json, NULL, "the pool is starting");
        return;
    case PHASE_OF_WORK:
        return;
    case PHASE_OF_END:
        json_write_text(json, NULL, "the pool is about to end");
        return;
    }
}

static void add_pings(const struct readiness *readiness, struct json_writer *json)
{
    bool is_away = false;

    for (size_t i = 0; i < READINESS_PEERS; i++) {
        const enum th_error_code code = readiness->pings[i].code;
        char text[64];

        if (code == TH_OK)
            continue;
        if (code == TH_E_UNAVAILABLE && calls_are_connected(readiness->peers[i])) {
            is_away = true;
            continue;
        }
        snprintf(text, sizeof text, "%s does not answer", names[i]);
        json_write_text(json, NULL, text);
    }
    if (is_away)
        json_write_text(json, NULL, "the store is away");
}

static bool is_ready(const struct readiness *readiness)
{
    for (size_t i = 0; i < READINESS_PEERS; i++) {
        if (readiness->pings[i].code != TH_OK)
            return false;
    }
    return readiness->phase == PHASE_OF_WORK;
}

static void write_answer(const struct readiness *readiness, struct buffer *text)
{
    struct json_writer json = {.out = text};

    json_write_open(&json, NULL, '{');
    json_write_bool(&json, "ready", is_ready(readiness));
    if (!is_ready(readiness)) {
        json_write_open(&json, "reasons", '[');
        add_phase(readiness, &json);
        add_pings(readiness, &json);
        json_write_close(&json, ']');
    }
    json_write_close(&json, '}');
}

static void answer_all(struct readiness *readiness)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ANSWER_MAX);
    const int status = is_ready(readiness) ? 200 : 503;

    write_answer(readiness, &text);
    const struct bytes body = {(const unsigned char *)buffer_str(&text), text.length};

    while (readiness->askers) {
        struct asker *asker = readiness->askers;

        readiness->askers = asker->next;
        visit_answer(asker->visit, status, body);
        free(asker);
    }
}

/* ---- a round ---- */

static void note_answer(void *context, struct bytes pack, const struct error *err)
{
    struct ping *ping = context;
    const struct readiness *readiness = ping->readiness;

    (void)pack;
    ping->is_open = false;
    ping->code = err ? err->code : TH_OK;
    for (size_t i = 0; i < READINESS_PEERS; i++) {
        if (readiness->pings[i].is_open)
            return;
    }
    answer_all(ping->readiness);
}

static void send_ping(struct readiness *readiness, size_t peer)
{
    struct ping *ping = &readiness->pings[peer];
    const struct call_wish wish = {
        .kind = CALL_PING,
        .may_be_repeated = true,
        .patience = PATIENCE,
        .answered = note_answer,
        .context = ping,
    };
    uint64_t serial;
    struct error err;

    ping->is_open = calls_send(readiness->peers[peer], &wish, &serial, &err);
    ping->code = TH_E_INTERNAL;
}

static void begin_round(struct readiness *readiness)
{
    bool is_open = false;

    for (size_t i = 0; i < READINESS_PEERS; i++) {
        send_ping(readiness, i);
        is_open = is_open || readiness->pings[i].is_open;
    }
    if (!is_open)
        answer_all(readiness);
}

/* ---- what callers use ---- */

bool readiness_open(struct calls *const peers[READINESS_PEERS], struct readiness **readiness_out,
                    struct error *err)
{
    struct readiness *readiness = calloc(1, sizeof *readiness);

    if (!readiness)
        return error_no_memory(err);
    for (size_t i = 0; i < READINESS_PEERS; i++) {
        readiness->peers[i] = peers[i];
        readiness->pings[i].readiness = readiness;
    }
    *readiness_out = readiness;
    return true;
}

/* The requests have gone with their server. */
void readiness_close(struct readiness **readiness)
{
    while (*readiness && (*readiness)->askers) {
        struct asker *asker = (*readiness)->askers;

        (*readiness)->askers = asker->next;
        free(asker);
    }
    free(*readiness);
    *readiness = NULL;
}

void readiness_enter(struct readiness *readiness, enum pool_phase phase)
{
    readiness->phase = phase;
}

void readiness_ask(struct readiness *readiness, struct visit *visit)
{
    const bool is_first = !readiness->askers;
    struct asker *asker = malloc(sizeof *asker);

    if (!asker) {
        visit_refuse(visit, 503, NULL, "out of memory");
        return;
    }
    *asker = (struct asker){.next = readiness->askers, .visit = visit};
    readiness->askers = asker;
    if (is_first)
        begin_round(readiness);
}
