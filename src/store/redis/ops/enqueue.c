/*
 * enqueue.c - a group of jobs comes in.
 *
 * A server takes a group in one script, whatever queues it is for: all or nothing. In a cluster a
 * script reaches one queue; a group for several is checked in all of them first and then stored
 * queue by queue, so only a conflict that arises in between, or a node that fails, leaves a part of
 * it. That is answered with TH_E_UNCERTAIN, and to repeat the group is safe.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/checks.h"
#include "store/redis/codec/record.h"
#include "store/redis/net/cluster.h"
#include "store/redis/ops/given.h"
#include "store/redis/ops/ops.h"
#include "store/redis/parts/queues.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX  ((size_t)1 << 30)
#define PLACE_MAX 64

/* The queues of a group, each once, in the order they were met. */
struct queue_table {
    const char **names; /* owned */
    size_t count;
    size_t *numbers; /* owned; of each job */
};

static void queue_table_done(struct queue_table *table)
{
    free(table->names);
    free(table->numbers);
}

static size_t number_of(struct queue_table *table, const char *queue)
{
    size_t i = table->count;

    while (i > 0 && strcmp(table->names[i - 1], queue) != 0)
        i--;
    if (i > 0)
        return i - 1;
    table->names[table->count] = queue;
    return table->count++;
}

static bool sort_by_queue(const struct enqueue_group *group, struct queue_table *table,
                          struct error *err)
{
    table->names = calloc(group->count, sizeof *table->names);
    table->numbers = calloc(group->count, sizeof *table->numbers);
    if (!table->names || !table->numbers)
        return error_no_memory(err);
    for (size_t i = 0; i < group->count; i++)
        table->numbers[i] = number_of(table, group->jobs[i].queue);
    return true;
}

/* ---- asking ---- */

/* How it comes and to which queue, unless that is as of the job before it. */
static void add_how(struct redis_command *command, struct redis_coming *before, const char *how,
                    size_t queue_number)
{
    char text[REDIS_HOW_SIZE + 24];

    if (before->queue_number == queue_number && text_equal(before->how, how))
        return;
    before->queue_number = queue_number;
    memcpy(before->how, how, sizeof before->how);
    snprintf(text, sizeof text, "%s%zu", how, queue_number);
    redis_command_text(command, text);
}

void redis_enqueue_words(struct redis_command *command, struct redis_coming *before,
                         size_t queue_number, const struct job *job, usec_t now)
{
    CLEANUP(buffer_done) struct buffer body = BUFFER(WORD_MAX);
    char how[REDIS_HOW_SIZE] = "";

    redis_record_how(job, how);
    redis_record_body(&body, job, now);
    add_how(command, before, how, queue_number);
    redis_command_uuid(command, &job->id);
    redis_command_bytes(command, body.data, body.length);
    if (redis_record_is_outside(job))
        redis_command_bytes(command, job->payload.data, job->payload.length);
    if (how[1] == 'k')
        redis_command_int(command, job->idempotency_key ? job->idempotency_expires : 0);
    command->words.failed = command->words.failed || body.failed;
}

static void add_head(struct redis_command *command, usec_t now, bool check)
{
    redis_command_moment(command, now);
    redis_command_text(command, check ? "check" : "");
    for (int i = 0; i < 4; i++)
        redis_command_text(command, "");
}

/* One command for all queues. */
static bool ask_server(struct redis *redis, struct redis_batch *batch,
                       const struct enqueue_group *group, const struct queue_table *table,
                       usec_t now, struct error *err)
{
    struct redis_command *command =
        redis_batch_on_queues(redis, batch, SCRIPT_ENQUEUE, table->names, table->count);
    struct redis_coming before = {0};

    if (!command)
        return error_no_memory(err);
    add_head(command, now, false);
    for (size_t i = 0; i < group->count; i++)
        redis_enqueue_words(command, &before, table->numbers[i] + 1, &group->jobs[i], now);
    return true;
}

bool redis_enqueue_add_group(struct redis *redis, struct redis_batch *batch,
                             const struct enqueue_group *group, usec_t now, struct error *err)
{
    CLEANUP(queue_table_done) struct queue_table table = {0};

    return sort_by_queue(group, &table, err) && ask_server(redis, batch, group, &table, now, err);
}

/* One command for each queue. */
static bool ask_cluster(struct redis *redis, struct redis_batch *batch,
                        const struct enqueue_group *group, const struct queue_table *table,
                        usec_t now, bool check, struct error *err)
{
    AUTO_FREE struct redis_coming *before = calloc(table->count + 1, sizeof *before);

    if (!before)
        return error_no_memory(err);
    for (size_t i = 0; i < table->count; i++) {
        struct redis_command *command =
            redis_batch_on_queue(redis, batch, SCRIPT_ENQUEUE, table->names[i]);
        if (!command)
            return error_no_memory(err);
        add_head(command, now, check);
        command->writes = !check;
    }
    assert(batch->items); /* there are no jobs without a queue */
    for (size_t i = 0; i < group->count; i++) {
        const size_t queue = table->numbers[i];
        redis_enqueue_words(&batch->items[queue], &before[queue], 1, &group->jobs[i], now);
    }
    return true;
}

/* ---- hearing ---- */

/* What one command answered, as far as it was read. */
struct answers {
    const redisReply *reply;
    size_t jobs, others;
};

/* "1...": the job that is there, its state and its id. */
static bool read_other(const redisReply *other, struct enqueued *enqueued, struct error *err)
{
    if (other->type != REDIS_REPLY_STRING || other->len != UUID_TEXT_SIZE ||
        !uuid_parse(other->str + 1, &enqueued->id))
        return error_set(err, TH_E_INTERNAL, "redis: enqueue answered no job");
    enqueued->state = (enum job_state)(other->str[0] - '0');
    return true;
}

static bool read_answer(struct answers *answers, const struct job *job,
                        struct enqueued *enqueued_out, struct error *err)
{
    const redisReply *reply = answers->reply;

    if (reply->elements < 2 || answers->jobs >= reply->element[1]->len)
        return error_set(err, TH_E_INTERNAL, "redis: enqueue answered too little");
    const char answer = reply->element[1]->str[answers->jobs++];
    *enqueued_out =
        (struct enqueued){.id = job->id, .existed = answer == 'e', .updated = answer == 'u'};
    if (!enqueued_out->existed && !enqueued_out->updated) {
        enqueued_out->state = (enum job_state)(answer - '0');
        return true;
    }
    const size_t other = 2 + answers->others++;
    if (other >= reply->elements)
        return error_set(err, TH_E_INTERNAL, "redis: enqueue answered too little");
    return read_other(reply->element[other], enqueued_out, err);
}

bool redis_enqueue_conflict(const redisReply *answer, const struct job *job, struct error *err)
{
    bool runs = text_equal(answer->element[2]->str, "3");

    return checks_refuse_twin(job, answer->element[3]->str, runs, err);
}

/* The number of the job in the whole group, from its number in the command of its queue; NULL for
 * `table`: there is one command. */
static size_t place_in_group(const struct queue_table *table, size_t command, size_t nth,
                             size_t count)
{
    if (!table)
        return nth;
    for (size_t i = 0; i < count; i++)
        if (table->numbers[i] == command && nth-- == 0)
            return i;
    return 0;
}

/* False: this command was refused. */
static bool check_reply(const redisReply *reply, const struct queue_table *table, size_t command,
                        const struct enqueue_group *group, size_t *at_fault_out, struct error *err)
{
    if (reply->elements == 0 || !text_equal(reply->element[0]->str, "conflict"))
        return true;
    const size_t nth = (size_t)reply->element[1]->integer - 1;
    const size_t place = place_in_group(table, command, nth, group->count);
    if (place >= group->count)
        return error_set(err, TH_E_INTERNAL, "redis: enqueue answered for no job");
    *at_fault_out = place;
    return redis_enqueue_conflict(reply, &group->jobs[place], err);
}

static bool check_replies(const struct redis_batch *batch, const struct queue_table *table,
                          const struct enqueue_group *group, size_t *at_fault_out,
                          struct error *err)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!check_reply(batch->items[i].reply, table, i, group, at_fault_out, err))
            return false;
    return true;
}

static bool read_answers(const struct redis_batch *batch, const struct queue_table *table,
                         const struct enqueue_group *group, struct error *err)
{
    AUTO_FREE struct answers *answers = calloc(batch->count, sizeof *answers);

    if (!answers)
        return error_no_memory(err);
    for (size_t i = 0; i < batch->count; i++)
        answers[i].reply = batch->items[i].reply;
    for (size_t i = 0; i < group->count; i++)
        if (!read_answer(&answers[table->numbers[i]], &group->jobs[i], &group->enqueued_out[i],
                         err))
            return false;
    return true;
}

bool redis_enqueue_hear_group(const redisReply *reply, const struct enqueue_group *group,
                              size_t *at_fault_out, struct error *err)
{
    struct answers answers = {.reply = reply};

    if (!check_reply(reply, NULL, 0, group, at_fault_out, err))
        return false;
    for (size_t i = 0; i < group->count; i++)
        if (!read_answer(&answers, &group->jobs[i], &group->enqueued_out[i], err))
            return false;
    return true;
}

/* ---- replicas ---- */

/* `wait_replicas`: what was stored is on so many replicas before it is answered. WAIT is about what
 * this connection has written, so it goes the same way. */
bool redis_enqueue_replicate(struct redis *redis, const char *const *queues, size_t count,
                             struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    usec_t left = (redis->deadline - clock_boot()) / 2 / USEC_PER_MSEC;

    for (size_t i = 0; i < count && redis->address.wait_replicas > 0; i++) {
        struct redis_command *command = redis_batch_add(&batch);
        if (!command)
            return error_no_memory(err);
        command->slot = redis_cluster_slot(queues[i]);
        redis_command_text(command, "WAIT");
        redis_command_int(command, redis->address.wait_replicas);
        redis_command_int(command, left > 1 ? left : 1);
    }
    if (batch.count > 0 && !redis_run(redis, &batch, err))
        return error_prefix(err, "stored, but not known to be on %d replicas",
                            redis->address.wait_replicas);
    for (size_t i = 0; i < batch.count; i++)
        if (batch.items[i].reply->integer < redis->address.wait_replicas)
            return error_set(err, TH_E_UNCERTAIN,
                             "redis: stored, but only %lld of %d replicas have confirmed it in "
                             "time (wait_replicas): enqueue it again with the same id",
                             batch.items[i].reply->integer, redis->address.wait_replicas);
    return true;
}

static bool check_all(struct redis *redis, const struct enqueue_group *group,
                      const struct queue_table *table, usec_t now, size_t *at_fault_out,
                      struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    return ask_cluster(redis, &batch, group, table, now, true, err) &&
           redis_run(redis, &batch, err) && check_replies(&batch, table, group, at_fault_out, err);
}

/* Queue by queue. */
static bool store_parts(struct redis *redis, const struct enqueue_group *group,
                        const struct queue_table *table, usec_t now, size_t *at_fault_out,
                        struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (!ask_cluster(redis, &batch, group, table, now, false, err) ||
        !redis_run(redis, &batch, err))
        return false;
    if (!check_replies(&batch, table, group, at_fault_out, err)) {
        err->code = TH_E_UNCERTAIN; /* the other queues have theirs */
        return false;
    }
    return read_answers(&batch, table, group, err);
}

static bool store_whole(struct redis *redis, const struct enqueue_group *group,
                        const struct queue_table *table, usec_t now, size_t *at_fault_out,
                        struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    return ask_server(redis, &batch, group, table, now, err) && redis_run(redis, &batch, err) &&
           redis_enqueue_hear_group(batch.items[0].reply, group, at_fault_out, err);
}

static bool enqueue(struct store *store, const struct enqueue_group *group, usec_t now,
                    size_t *at_fault_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(queue_table_done) struct queue_table table = {0};

    redis_begin(redis);
    if (!sort_by_queue(group, &table, err) ||
        !redis_queues_add(redis, table.names, table.count, err))
        return false;
    const bool in_parts = redis->slot_nodes && table.count > 1;
    const bool stored = in_parts ? check_all(redis, group, &table, now, at_fault_out, err) &&
                                       store_parts(redis, group, &table, now, at_fault_out, err)
                                 : store_whole(redis, group, &table, now, at_fault_out, err);
    return stored && redis_enqueue_replicate(redis, table.names, table.count, err);
}

/* ---- one by one ---- */

bool redis_enqueue_is_simple(const struct job *job, usec_t now)
{
    char how[REDIS_HOW_SIZE];

    return job->run_at <= now && text_equal(redis_record_how(job, how), "ps");
}

bool redis_enqueue_add_one(struct redis *redis, struct redis_batch *batch, const struct job *job,
                           usec_t now, struct error *err)
{
    CLEANUP(buffer_done) struct buffer place = BUFFER(PLACE_MAX), body = BUFFER(WORD_MAX);
    struct redis_command *command =
        redis_batch_on_queue(redis, batch, SCRIPT_ENQUEUE_ONE, job->queue);

    if (!command)
        return error_no_memory(err);
    redis_record_place(&place, job, now);
    redis_record_body(&body, job, now);
    redis_command_bytes(command, place.data, place.length);
    redis_command_bytes(command, body.data, body.length);
    command->words.failed = command->words.failed || place.failed || body.failed;
    return true;
}

/* It is not stored when it takes a closer look. */
static bool store_one(struct redis *redis, const struct job *job, usec_t now, bool *stored_out,
                      struct enqueued *enqueued_out, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(redis);
    if (!redis_queues_add(redis, &job->queue, 1, err) ||
        !redis_enqueue_add_one(redis, &batch, job, now, err) || !redis_run(redis, &batch, err))
        return false;
    *stored_out = batch.items[0].reply->integer == 1;
    *enqueued_out = (struct enqueued){.id = job->id, .state = JOB_READY};
    return !*stored_out || redis_enqueue_replicate(redis, &job->queue, 1, err);
}

bool redis_enqueue_group(struct store *store, struct enqueue_group *group, usec_t now,
                         size_t *at_fault_out, struct error *err)
{
    struct redis *redis = redis_of(store);
    bool stored = false;

    *at_fault_out = group->count;
    if (group->count == 1 && redis_enqueue_is_simple(group->jobs, now) &&
        !store_one(redis, group->jobs, now, &stored, group->enqueued_out, err))
        return false;
    if (stored)
        return true;
    if (redis->slot_nodes && redis_given_any(group->jobs, group->count))
        return redis_given_enqueue(store, group, now, enqueue, at_fault_out, err);
    return enqueue(store, group, now, at_fault_out, err);
}
