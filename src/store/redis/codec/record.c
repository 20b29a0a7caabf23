/*
 * record.c - text to structs and back.
 */
#include "store/redis/codec/record.h"

#include "store/redis/net/word.h"

#include <limits.h>
#include <string.h>

#define TOKEN_SIZE sizeof(((struct lease_token *)NULL)->bytes)
#define EXTRAS     2 /* added to the encoding: there are headers or tags */

/* ---- writing ---- */

bool redis_record_is_outside(const struct job *job)
{
    return job->payload.length > REDIS_PAYLOAD_INSIDE;
}

const char *redis_record_how(const struct job *job, char how[REDIS_HOW_SIZE])
{
    bool plain = !job->key && job->tags.count == 0 && job->attempts == 0 && job->stalls == 0;
    bool simple = !job->key && job->tags.count == 0 && !job->idempotency_key && !job->id_is_given;

    if (redis_record_is_outside(job))
        how[0] = plain ? 'P' : 'T';
    else
        how[0] = plain ? 'p' : 't';
    how[1] = simple ? 's' : 'k';
    how[2] = job->id_is_given ? 'g' : '\0';
    how[3] = '\0';
    return how;
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static void add_text(struct buffer *out, const char *text)
{
    if (text)
        buffer_text(out, text);
}

/* What is 0 is left out, but not the space after it. */
static void add_optional(struct buffer *out, int64_t number)
{
    if (number != 0)
        redis_word_number(out, number);
    else
        buffer_char(out, ' ');
}

static usec_t due_of(const struct job *job, usec_t now)
{
    return job->run_at != 0 ? job->run_at : now;
}

void redis_record_place(struct buffer *out, const struct job *job, usec_t now)
{
    char id[UUID_TEXT_SIZE];

    buffer_char(out, (char)('0' + job->priority));
    redis_word_moment(out, due_of(job, now));
    buffer_text(out, uuid_format(&job->id, id));
}

static bool has_extras(const struct job *job)
{
    return job->headers || job->tags.count > 0;
}

static void add_extras(struct buffer *out, const struct job *job)
{
    char text[TAGS_TEXT_SIZE];
    const char *tags = tags_format(job->tags, text);

    redis_word_number(out, (int64_t)length_of(job->headers));
    redis_word_number(out, (int64_t)length_of(tags));
    add_text(out, job->headers);
    add_text(out, tags);
}

void redis_record_body(struct buffer *out, const struct job *job, usec_t now)
{
    redis_word_number(out, job->priority);
    redis_word_number(out, due_of(job, now));
    add_optional(out, job->run_at);
    add_optional(out, job->timeout);
    add_optional(out, job->max_attempts);
    add_optional(out, job->max_stalls);
    add_optional(out, job->attempts);
    add_optional(out, job->stalls);
    add_optional(out, 0);
    add_optional(out, job->run_at != 0 ? now : 0);
    add_optional(out, job_flags_pack(job));
    add_optional(out, (int)job->encoding | (has_extras(job) ? EXTRAS : 0));
    add_optional(out, (int64_t)length_of(job->type));
    add_optional(out, (int64_t)length_of(job->key));
    add_optional(out, (int64_t)length_of(job->idempotency_key));
    add_text(out, job->type);
    add_text(out, job->key);
    add_text(out, job->idempotency_key);
    if (has_extras(job))
        add_extras(out, job);
    if (!redis_record_is_outside(job) && job->payload.length > 0)
        buffer_add(out, job->payload.data, job->payload.length);
}

void redis_record_plain_end(struct buffer *out, const struct settlement *settlement, usec_t now)
{
    const struct job_run *run = &settlement->run;

    buffer_text(out, "5T");
    buffer_add(out, settlement->token.bytes, sizeof settlement->token.bytes);
    buffer_text(out, " 0 1 0 0 ");
    redis_word_number(out, now);
    buffer_text(out, "2 ");
    redis_word_number(out, run->worker);
    redis_word_number(out, run->started_at);
    redis_word_number(out, run->wall);
    redis_word_number(out, run->user);
    redis_word_number(out, run->system);
    redis_word_number(out, run->max_rss_kb);
    redis_word_number(out, run->exit_code);
    buffer_text(out, "0 - ");
    buffer_text(out, run->pool);
}

/* ---- reading ---- */

/* What is left of a record, and whether it was as expected so far. */
struct cursor {
    const char *at, *end;
    bool ok;
};

static struct cursor cursor_at(const redisReply *text, size_t skipped)
{
    bool ok = text->type == REDIS_REPLY_STRING && text->len >= skipped;

    return (struct cursor){ok ? text->str + skipped : "", ok ? text->str + text->len : "", ok};
}

/* Digits and the space after them: no more than 18, so that sums of moments do not overflow. */
static int64_t take_optional(struct cursor *cursor)
{
    const char *start = cursor->at;
    int64_t number = 0;

    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' &&
           cursor->at - start < REDIS_MOMENT_DIGITS)
        number = number * 10 + (*cursor->at++ - '0');
    cursor->ok = cursor->ok && cursor->at < cursor->end && *cursor->at == ' ';
    cursor->at += cursor->at < cursor->end;
    return number;
}

/* The same, and there is a digit. */
static int64_t take_number(struct cursor *cursor)
{
    cursor->ok = cursor->ok && cursor->at < cursor->end && *cursor->at != ' ';
    return take_optional(cursor);
}

static int as_int(struct cursor *cursor, int64_t number, int max)
{
    cursor->ok = cursor->ok && number <= max;
    return cursor->ok ? (int)number : 0;
}

/* The same, no more than `max`. */
static int take_int(struct cursor *cursor, int max)
{
    return as_int(cursor, take_number(cursor), max);
}

static int take_count(struct cursor *cursor)
{
    return as_int(cursor, take_optional(cursor), INT_MAX);
}

/* The same with a sign before it, perhaps. */
static int take_signed(struct cursor *cursor)
{
    bool negative = cursor->at < cursor->end && *cursor->at == '-';

    cursor->at += negative;
    int number = take_int(cursor, INT_MAX);
    return negative ? -number : number;
}

/* So many bytes as text; NULL when there are none. */
static const char *take_text(struct cursor *cursor, int64_t length, struct arena *arena)
{
    cursor->ok = cursor->ok && length >= 0 && length <= cursor->end - cursor->at;
    if (!cursor->ok || length == 0)
        return NULL;
    cursor->at += length;
    return arena_text_of(arena, cursor->at - length, (size_t)length);
}

static const char *take_rest(struct cursor *cursor, struct arena *arena)
{
    return take_text(cursor, cursor->end - cursor->at, arena);
}

static void take_extras(struct cursor *cursor, struct arena *arena, struct job *job)
{
    int64_t headers = take_number(cursor), tags = take_number(cursor);

    job->headers = take_text(cursor, headers, arena);
    job->tags = tags_parse(take_text(cursor, tags, arena), arena);
}

bool redis_record_job(const redisReply *text, struct arena *arena, struct job *job)
{
    struct cursor cursor = cursor_at(text, 2);

    cursor.ok = cursor.ok && text->str[0] != '\0' && strchr("pPtT", text->str[0]);
    job->ref = take_number(&cursor);
    job->priority = take_int(&cursor, JOB_PRIORITY_MAX);
    job->due = take_number(&cursor);
    job->run_at = take_optional(&cursor);
    job->timeout = take_optional(&cursor);
    job->max_attempts = take_count(&cursor);
    job->max_stalls = take_count(&cursor);
    job->attempts = take_count(&cursor);
    job->stalls = take_count(&cursor);
    job->executions = take_optional(&cursor);
    job->created_at = take_optional(&cursor);
    if (job->created_at == 0)
        job->created_at = job->due;
    job_flags_unpack(take_count(&cursor), job);
    int64_t encoding = take_optional(&cursor);
    job->encoding = (encoding & 1) == JOB_RAW ? JOB_RAW : JOB_JSON;
    int64_t type = take_optional(&cursor), key = take_optional(&cursor),
            idempotency_key = take_optional(&cursor);
    job->type = take_text(&cursor, type, arena);
    job->key = take_text(&cursor, key, arena);
    job->idempotency_key = take_text(&cursor, idempotency_key, arena);
    if (encoding & EXTRAS)
        take_extras(&cursor, arena, job);
    job->payload = arena_bytes(
        arena, (struct bytes){(const unsigned char *)cursor.at, (size_t)(cursor.end - cursor.at)});
    if (!job->type)
        job->type = ""; /* which is no name, and can be shown */
    return cursor.ok;
}

bool redis_record_lease(const redisReply *text, struct arena *arena, struct job *job)
{
    struct cursor cursor = cursor_at(text, 1 + TOKEN_SIZE);

    if (!cursor.ok)
        return false;
    memcpy(job->token.bytes, text->str + 1, TOKEN_SIZE);
    job->expires_at = take_number(&cursor);
    job->executions = take_number(&cursor);
    job->started_at = take_number(&cursor);
    job->worker = take_int(&cursor, INT_MAX);
    job->cancel_requested_at = take_number(&cursor);
    job->pool = take_rest(&cursor, arena);
    return cursor.ok;
}

static void take_last_run(struct cursor *cursor, struct job *job, struct job_run *run)
{
    bool has_run = take_number(cursor) != 0;

    job->worker = take_int(cursor, INT_MAX);
    job->started_at = take_number(cursor);
    *run = (struct job_run){.execution = has_run ? job->executions : 0, .outcome = RUN_DONE};
    run->wall = take_number(cursor);
    run->user = take_number(cursor);
    run->system = take_number(cursor);
    run->max_rss_kb = take_number(cursor);
    run->exit_code = take_signed(cursor);
    run->worker = job->worker;
    run->started_at = job->started_at;
}

static struct uuid take_merged(struct cursor *cursor)
{
    const char *space = memchr(cursor->at, ' ', (size_t)(cursor->end - cursor->at));
    char text[UUID_TEXT_SIZE] = "";
    struct uuid id = {{0}};

    cursor->ok = cursor->ok && space;
    if (!cursor->ok)
        return id;
    size_t length = (size_t)(space - cursor->at);
    if (length == sizeof text - 1)
        memcpy(text, cursor->at, length);
    cursor->at = space + 1;
    return uuid_parse(text, &id) ? id : (struct uuid){{0}};
}

bool redis_record_end(const redisReply *text, struct arena *arena, struct job *job,
                      struct job_run *last_run)
{
    struct cursor cursor = cursor_at(text, 3 + TOKEN_SIZE);

    if (!cursor.ok)
        return false;
    if (text->str[1] == 'T')
        memcpy(job->token.bytes, text->str + 2, TOKEN_SIZE);
    (void)take_signed(&cursor); /* the kind that ended it */
    job->executions = take_number(&cursor);
    job->attempts = take_int(&cursor, INT_MAX);
    job->stalls = take_int(&cursor, INT_MAX);
    job->ended_at = take_number(&cursor);
    take_last_run(&cursor, job, last_run);
    job->cancel_requested_at = take_number(&cursor);
    job->merged_into = take_merged(&cursor);
    job->pool = take_rest(&cursor, arena);
    last_run->pool = job->pool;
    return cursor.ok;
}

bool redis_record_run(const redisReply *text, struct arena *arena, struct job_run *run)
{
    struct cursor cursor = cursor_at(text, 0);

    run->execution = take_number(&cursor);
    run->outcome = (enum run_outcome)take_int(&cursor, RUN_STALLED);
    run->worker = take_int(&cursor, INT_MAX);
    run->started_at = take_number(&cursor);
    run->wall = take_number(&cursor);
    run->user = take_number(&cursor);
    run->system = take_number(&cursor);
    run->max_rss_kb = take_number(&cursor);
    run->exit_code = take_signed(&cursor);
    run->signal = take_int(&cursor, INT_MAX);
    bool has_error = take_number(&cursor) == 1;
    run->pool = take_text(&cursor, take_number(&cursor), arena);
    run->error = take_rest(&cursor, arena);
    if (has_error && !run->error)
        run->error = "";
    return cursor.ok;
}
