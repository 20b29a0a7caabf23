/*
 * enqueue.c - POST /api/jobs: one job, or a list of them that is stored as a whole or not at all.
 *
 * All that is wrong with any of them is told at once. Ids are made here, so that the gate can be
 * asked again by calls.h when it dies before it has answered: nothing is stored twice.
 */
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/visit.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/config.h"
#include "door/enqueue_call.h"
#include "door/pack.h"
#include "job/idempotency.h"
#include "job/job.h"
#include "job/job_json.h"
#include "process/process.h"

#include <stdio.h>
#include <string.h>

#define KEY_HEADER     "Idempotency-Key"
#define KEY_HEADER_MAX 250
#define POINTER_SIZE   320
#define ANSWER_MAX     ((size_t)1 << 20)

struct wish {
    struct enqueue_call call;
    bool is_list;
    struct bytes *texts; /* of each job */
    const char *key;     /* of the header; NULL: none */
    struct problems problems;
};

/* ---- what the client wants ---- */

/* Adds to the problems what is wrong with one job. */
struct job_place {
    struct wish *wish;
    size_t index;
};

static bool is_told(const struct problems *problems, const char *pointer)
{
    for (size_t i = 0; i < problems->count; i++) {
        if (text_equal(problems->places[i].field, pointer))
            return true;
    }
    return false;
}

static void add_fault(void *context, const char *field, const char *message)
{
    const struct job_place *place = context;
    struct problems *problems = &place->wish->problems;
    char list[32] = "", pointer[POINTER_SIZE];

    if (place->wish->is_list)
        snprintf(list, sizeof list, "/%zu", place->index);
    snprintf(pointer, sizeof pointer, "%s%s%.256s", list, field[0] ? "/" : "", field);
    if (!is_told(problems, pointer))
        problems_add(problems, pointer, "%s", message);
}

static const char *key_of(struct wish *wish, size_t index)
{
    char key[KEY_HEADER_MAX + 32];

    if (!wish->is_list)
        return wish->key;
    snprintf(key, sizeof key, "%s:%zu", wish->key, index);
    return arena_text(wish->problems.arena, key);
}

static void use_key(struct job_place *place, struct job *job)
{
    if (!place->wish->key)
        return;
    if (job->idempotency_key)
        add_fault(place, "idempotency_key",
                  "idempotency_key is said by the header " KEY_HEADER " already: use one");
    job->idempotency_key = key_of(place->wish, place->index);
}

static void complete(struct api *api, struct job *job, usec_t now)
{
    job->id_is_given = !uuid_is_nil(&job->id);
    if (!job->id_is_given)
        job->id = uuid_make(&api->ids, now);
    job->idempotency_expires = now; /* the gate knows better */
}

static void read_job(struct visit *visit, struct wish *wish, size_t index)
{
    struct job_place place = {wish, index};
    const struct job_faults faults = {add_fault, &place};
    struct job *job = &wish->call.jobs[index];

    *job = job_defaults();
    if (!job_json_read(wish->texts[index], &visit->arena, job, &wish->call.delays[index], &faults))
        return;
    if (!job->type)
        job->type = ""; /* that there is none has been told */
    use_key(&place, job);
    complete(visit->api, job, visit_now(visit));
    job_find_faults(job, (size_t)visit->api->process->config->max_payload, &faults);
}

static bool is_list(struct bytes body)
{
    size_t i = 0;

    while (i < body.length && strchr(" \t\r\n", body.data[i]))
        i++;
    return i < body.length && body.data[i] == '[';
}

static bool split(struct visit *visit, struct wish *wish)
{
    const struct bytes body = visit->request->body;
    struct json_values values;
    struct error err;

    wish->is_list = is_list(body);
    if (!wish->is_list) {
        wish->texts = arena_alloc(&visit->arena, sizeof *wish->texts);
        if (wish->texts)
            *wish->texts = body.data ? body : (struct bytes){(const unsigned char *)"", 0};
        wish->call.count = 1;
        return true;
    }
    if (!json_split_array(body, &visit->arena, &values, &err)) {
        problems_add(&wish->problems, "", "%s", err.text);
        return false;
    }
    wish->texts = values.items;
    wish->call.count = values.count;
    if (values.count >= 1 && values.count <= ENQUEUE_CALL_MAX)
        return true;
    problems_add(&wish->problems, "", "a list has 1 to %d jobs, not %zu", ENQUEUE_CALL_MAX,
                 values.count);
    return false;
}

static void read_key(struct visit *visit, struct wish *wish)
{
    const char *key = http_request_header(visit->request, KEY_HEADER);

    if (!idempotency_key_counts(key))
        return;
    if (strlen(key) > KEY_HEADER_MAX)
        problems_add(&wish->problems, KEY_HEADER, "has %zu bytes: use at most %d", strlen(key),
                     KEY_HEADER_MAX);
    else
        wish->key = arena_text(&visit->arena, key);
}

static void read_all(struct visit *visit, struct wish *wish)
{
    struct enqueue_call *call = &wish->call;

    read_key(visit, wish);
    if (!split(visit, wish))
        return;
    call->jobs = arena_alloc(&visit->arena, call->count * sizeof *call->jobs);
    call->delays = arena_alloc(&visit->arena, call->count * sizeof *call->delays);
    for (size_t i = 0; !visit->arena.failed && i < call->count; i++)
        read_job(visit, wish, i);
}

/* ---- what the gate answers ---- */

/* An id that was made here and is there already: the gate before this one has stored the job, and
 * could not say so. */
static void write_verdict(struct json_writer *json, const struct job *job,
                          const struct enqueue_verdict *verdict, bool *any_new)
{
    const bool is_ours = !job->id_is_given && uuid_compare(&job->id, &verdict->id) == 0;
    const bool existed = verdict->existed && !is_ours;
    char id[UUID_TEXT_SIZE];

    *any_new = *any_new || !existed;
    json_write_open(json, NULL, '{');
    json_write_text(json, "id", uuid_format(&verdict->id, id));
    json_write_text(json, "state", job_state_name(verdict->state));
    json_write_bool(json, "existed", existed);
    json_write_bool(json, "updated", verdict->updated);
    json_write_close(json, '}');
}

static int write_answer(const struct wish *wish, const struct enqueue_answer *answer,
                        struct buffer *text)
{
    struct json_writer json = {.out = text};
    bool any_new = false;

    if (wish->is_list)
        json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < answer->count; i++)
        write_verdict(&json, &wish->call.jobs[i], &answer->verdicts[i], &any_new);
    if (wish->is_list)
        json_write_close(&json, ']');
    return any_new ? 201 : 200;
}

static void note_answer(struct visit *visit, struct bytes pack)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(ANSWER_MAX);
    const struct wish *wish = visit->data;
    struct enqueue_answer answer;
    struct error err;

    if (!enqueue_answer_unpack(pack, &visit->arena, &answer, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    if (answer.count != wish->call.count) {
        visit_refuse(visit, 500, NULL, "the gate has answered for %zu jobs", answer.count);
        return;
    }
    const int status = write_answer(wish, &answer, &text);

    if (buffer_ok(&text, &err))
        visit_answer(visit, status, (struct bytes){(const unsigned char *)text.data, text.length});
    else
        visit_refuse_error(visit, &err);
}

static void ask(struct visit *visit, const struct wish *wish)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    const struct visit_question question = {
        .peer = API_GATE,
        .kind = CALL_ENQUEUE,
        .pack = &pack,
        .may_be_repeated = true,
        .answered = note_answer,
    };

    enqueue_call_pack(&pack, &wish->call);
    visit_ask(visit, &question);
}

static void enqueue(struct visit *visit)
{
    struct wish *wish = arena_alloc(&visit->arena, sizeof *wish);

    visit->data = wish;
    if (!visit_read(visit, NULL, NULL))
        return;
    if (wish) {
        wish->problems.arena = &visit->arena;
        read_all(visit, wish);
    }
    if (visit->arena.failed)
        visit_refuse(visit, 503, NULL, "out of memory");
    else if (wish->problems.count > 0)
        visit_refuse_all(visit, &wish->problems);
    else
        ask(visit, wish);
}

static const struct route routes[] = {
    {"POST", "/api/jobs", RIGHT_WRITE, BODY_JOBS, enqueue, .name = "enqueue",
     .body_schema = "NewJobs",
     .help = "Stores one job, or a list of them as a whole; the header Idempotency-Key makes it "
             "safe to repeat",
     .answers = {{201, "Enqueued", NULL, "Stored; of a list at least one was new"},
                 {200, "Enqueued", NULL, "There already, nothing was changed"},
                 {409, "Problem", NULL, "Another type has the key: nothing is stored"}}},
};

const struct route_table enqueue_routes = {routes, COUNT_OF(routes)};
