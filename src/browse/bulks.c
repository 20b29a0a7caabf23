/*
 * bulks.c - bulk repairs, a page for each turn of the loop.
 *
 * Invariants:
 *   - A repair has an asker until its call has been answered, and changes nothing before.
 *   - The store may go away at any time: then the page is done again, which is no harm.
 */
#include "browse/bulks.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "browse/filters.h"
#include "client/bulk.h"
#include "desk/desk.h"
#include "door/pack.h"
#include "door/page.h"
#include "door/peers.h"
#include "process/outage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX   ((size_t)4096)
#define REMEMBER_FOR USEC_PER_DAY

enum repair_state {
    REPAIR_NONE,
    REPAIR_COUNTING,
    REPAIR_RUNNING,
    REPAIR_OVER,
};

struct repair {
    enum repair_state state;
    uint64_t number; /* of all that this process has begun */
    struct bulk bulk;
    struct arena arena; /* what the bulk points into */
    bool is_dry;
    struct peer *asker;
    uint64_t serial;           /* of the asker's call */
    char why[ERROR_TEXT_SIZE]; /* it was given up; "": it was not */
};

struct bulks {
    usec_t born;
    uint64_t last_number;
    size_t next; /* whose turn it is */
    struct repair repairs[BULKS_MAX];
};

static void clear(struct repair *repair)
{
    arena_done(&repair->arena);
    *repair = (struct repair){0};
}

/* ---- ids ---- */

static const char *format_id(const struct bulks *bulks, uint64_t number, char text[BULK_ID_MAX])
{
    snprintf(text, BULK_ID_MAX, "%" PRId64 "-%" PRIu64, bulks->born, number);
    return text;
}

static bool parse_id(const char *text, usec_t *born_out, int64_t *number_out)
{
    char born[BULK_ID_MAX];
    const size_t length = strcspn(text, "-");

    if (length >= sizeof born || text[length] != '-')
        return false;
    memcpy(born, text, length);
    born[length] = '\0';
    return text_to_int(born, 1, INT64_MAX, born_out) &&
           text_to_int(text + length + 1, 1, INT64_MAX, number_out);
}

/* ---- answers ---- */

static const char *state_word(const struct repair *repair)
{
    if (repair->state == REPAIR_COUNTING)
        return "counting";
    if (repair->state == REPAIR_RUNNING)
        return "running";
    return repair->why[0] ? "failed" : "done";
}

static void write_count(struct json_writer *json, const struct repair *repair)
{
    json_write_int(json, "matched", (int64_t)repair->bulk.matched);
    json_write_bool(json, "capped", repair->bulk.capped);
}

static bool answer(const struct bulks *bulks, struct repair *repair, struct error *err)
{
    CLEANUP(buffer_done) struct buffer body = BUFFER(ANSWER_MAX);
    struct json_writer json = {.out = &body};
    char id[BULK_ID_MAX];

    json_write_open(&json, NULL, '{');
    if (!repair->is_dry)
        json_write_text(&json, "bulk", format_id(bulks, repair->number, id));
    write_count(&json, repair);
    json_write_close(&json, '}');
    if (!buffer_ok(&body, err))
        return false;
    const struct page page = {
        .status = repair->is_dry ? 200 : 202,
        .body = {(const unsigned char *)body.data, body.length},
    };

    if (!page_answer(repair->asker, repair->serial, &page, err))
        return false;
    repair->asker = NULL;
    return true;
}

static void refuse(struct repair *repair, const struct error *err)
{
    peer_refuse(repair->asker, repair->serial, err);
    clear(repair);
}

static void write_repair(const struct bulks *bulks, const struct repair *repair,
                         struct json_writer *json)
{
    char id[BULK_ID_MAX];

    json_write_text(json, "bulk", format_id(bulks, repair->number, id));
    json_write_text(json, "action", bulk_action_name(repair->bulk.action));
    json_write_text(json, "state", state_word(repair));
    write_count(json, repair);
    json_write_int(json, "done", (int64_t)repair->bulk.done);
    json_write_int(json, "failed", (int64_t)repair->bulk.failed);
    json_write_int(json, "passed_over", (int64_t)repair->bulk.passed_over);
    json_write_text(json, "error", repair->why[0] ? repair->why : NULL);
}

/* Of another process, which has died or was replaced: how far it came nobody knows. */
static void write_interrupted(const char *id, struct json_writer *json)
{
    json_write_text(json, "bulk", id);
    json_write_null(json, "action");
    json_write_text(json, "state", "interrupted");
    json_write_null(json, "matched");
    json_write_null(json, "capped");
    json_write_null(json, "done");
    json_write_null(json, "failed");
    json_write_null(json, "passed_over");
    json_write_null(json, "error");
}

static const struct repair *find(const struct bulks *bulks, int64_t number)
{
    for (size_t i = 0; i < BULKS_MAX; i++) {
        const struct repair *repair = &bulks->repairs[i];

        if (repair->state != REPAIR_NONE && repair->number == (uint64_t)number && !repair->asker)
            return repair;
    }
    return NULL;
}

static bool is_of_another(const struct bulks *bulks, usec_t born)
{
    return born != bulks->born && born > bulks->born - REMEMBER_FOR &&
           born < bulks->born + REMEMBER_FOR;
}

bool bulks_look(const struct bulks *bulks, const char *id, struct buffer *body, struct error *err)
{
    struct json_writer json = {.out = body};
    const struct repair *repair = NULL;
    int64_t number;
    usec_t born;

    const bool is_id = parse_id(id, &born, &number);
    if (is_id && born == bulks->born)
        repair = find(bulks, number);
    if (!repair && !(is_id && is_of_another(bulks, born)))
        return error_set(err, TH_E_NOT_FOUND, "no bulk repair has the id '%.64s'", id);
    json_write_open(&json, NULL, '{');
    if (repair)
        write_repair(bulks, repair, &json);
    else
        write_interrupted(id, &json);
    json_write_close(&json, '}');
    return true;
}

/* ---- begin ---- */

/* A free place, or that of the one that has been over for longest. */
static struct repair *find_place(struct bulks *bulks)
{
    struct repair *oldest = NULL;

    for (size_t i = 0; i < BULKS_MAX; i++) {
        struct repair *repair = &bulks->repairs[i];

        if (repair->state == REPAIR_NONE)
            return repair;
        if (repair->state == REPAIR_OVER && (!oldest || repair->number < oldest->number))
            oldest = repair;
    }
    if (oldest)
        clear(oldest);
    return oldest;
}

static bool read_ids(struct unpack *unpack, struct arena *arena, struct uuid **ids_out,
                     size_t *count_out, struct error *err)
{
    const size_t count = unpack_count(unpack, sizeof(struct uuid), JOB_IDS_MAX);
    struct uuid *ids = arena_alloc(arena, (count + 1) * sizeof *ids);

    if (!ids)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        ids[i] = unpack_uuid(unpack);
    *ids_out = ids;
    *count_out = count;
    return true;
}

/* What the wish points to is the call's: the repair has to have it for longer. */
static struct job_query keep(struct job_query query, struct arena *arena)
{
    query.queue = arena_text(arena, query.queue);
    query.type = arena_text(arena, query.type);
    query.tag = arena_text(arena, query.tag);
    query.key = arena_text(arena, query.key);
    query.error = arena_text(arena, query.error);
    query.after = NULL;
    return query;
}

static bool open_repair(struct repair *repair, struct unpack *wish, usec_t now, struct error *err)
{
    const enum bulk_action action = (enum bulk_action)unpack_number(wish, 0, JOB_MENDS - 1);
    repair->is_dry = unpack_flag(wish);
    const struct job_query query = keep(job_query_unpack(wish), &repair->arena);
    struct uuid *ids = NULL;
    size_t count = 0;

    if (!read_ids(wish, &repair->arena, &ids, &count, err) ||
        !unpack_end(wish, "a bulk repair", err))
        return false;
    if (repair->arena.failed)
        return error_no_memory(err);
    if (count > 0) {
        bulk_open_ids(&repair->bulk, action, ids, count, now);
        return true;
    }
    const struct job_filter filter = filter_of_query(&query);
    return bulk_open(&repair->bulk, action, &filter, now, err);
}

bool bulks_begin(struct bulks *bulks, struct desk *desk, struct peer *peer, const struct call *call,
                 struct error *err)
{
    struct repair *repair = find_place(bulks);
    struct unpack wish = unpack_begin(call->pack);

    if (!repair)
        return error_set(err, TH_E_UNAVAILABLE, "%d bulk repairs run already", BULKS_MAX);
    if (!open_repair(repair, &wish, store_now(desk_store(desk)), err)) {
        clear(repair);
        return false;
    }
    repair->state = REPAIR_COUNTING;
    repair->number = ++bulks->last_number;
    repair->asker = peer;
    repair->serial = call->serial;
    desk_rally(desk);
    return true;
}

void bulks_forget(struct bulks *bulks, const struct peer *peer, uint64_t serial)
{
    for (size_t i = 0; i < BULKS_MAX; i++) {
        struct repair *repair = &bulks->repairs[i];

        if (repair->asker == peer && (serial == 0 || repair->serial == serial))
            clear(repair);
    }
}

void bulks_suspend(struct bulks *bulks, const struct error *err)
{
    for (size_t i = 0; i < BULKS_MAX; i++) {
        if (bulks->repairs[i].asker)
            refuse(&bulks->repairs[i], err);
    }
}

/* ---- turns ---- */

static bool is_busy(const struct repair *repair)
{
    return repair->state == REPAIR_COUNTING || repair->state == REPAIR_RUNNING;
}

static void finish(struct repair *repair)
{
    repair->state = REPAIR_OVER;
    repair->bulk.ids = NULL;
    arena_done(&repair->arena);
}

static bool count_page(const struct bulks *bulks, struct repair *repair, struct store *store,
                       struct error *err)
{
    bool more;

    if (!bulk_count(&repair->bulk, store, &more, err))
        return false;
    if (more)
        return true;
    if (!answer(bulks, repair, err))
        return false;
    if (repair->is_dry)
        clear(repair);
    else
        repair->state = REPAIR_RUNNING;
    return true;
}

static bool do_page(struct repair *repair, struct store *store, struct error *err)
{
    if (!bulk_step(&repair->bulk, store, store_now(store), err))
        return false;
    if (repair->bulk.state == BULK_DONE)
        finish(repair);
    return true;
}

static bool take_step(const struct bulks *bulks, struct repair *repair, struct store *store,
                      struct error *err)
{
    if (repair->state == REPAIR_COUNTING)
        return count_page(bulks, repair, store, err);
    return do_page(repair, store, err);
}

/* A store that is away comes back: what runs waits for it. Anything else ends it. */
static void note_failure(struct repair *repair, struct desk *desk, const struct error *err)
{
    if (repair->asker) {
        refuse(repair, err);
    } else if (!outage_may_pass(err)) {
        snprintf(repair->why, sizeof repair->why, "%s", err->text);
        finish(repair);
    }
    desk_note_failure(desk, err);
}

static struct repair *next_busy(struct bulks *bulks)
{
    for (size_t i = 0; i < BULKS_MAX; i++) {
        const size_t place = (bulks->next + i) % BULKS_MAX;

        if (!is_busy(&bulks->repairs[place]))
            continue;
        bulks->next = place + 1;
        return &bulks->repairs[place];
    }
    return NULL;
}

bool bulks_are_busy(const struct bulks *bulks)
{
    for (size_t i = 0; i < BULKS_MAX; i++) {
        if (is_busy(&bulks->repairs[i]))
            return true;
    }
    return false;
}

void bulks_turn(struct bulks *bulks, struct desk *desk)
{
    struct repair *repair = desk_store(desk) ? next_busy(bulks) : NULL;
    struct error err;

    if (repair && !take_step(bulks, repair, desk_store(desk), &err))
        note_failure(repair, desk, &err);
}

/* ---- its life ---- */

bool bulks_open(usec_t born, struct bulks **bulks_out, struct error *err)
{
    struct bulks *bulks = calloc(1, sizeof *bulks);

    if (!bulks)
        return error_no_memory(err);
    bulks->born = born;
    *bulks_out = bulks;
    return true;
}

void bulks_close(struct bulks **bulks)
{
    for (size_t i = 0; *bulks && i < BULKS_MAX; i++)
        clear(&(*bulks)->repairs[i]);
    free(*bulks);
    *bulks = NULL;
}
