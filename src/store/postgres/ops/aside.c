/*
 * aside.c - ready jobs that nobody can run now: which there are, back into line, or to their
 * end.
 */
#include "base/cleanup.h"
#include "job/aside.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

#include <string.h>

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static void bind_queues(struct statement *call, const char *const *queues, size_t count)
{
    if (count == 0) {
        statement_null(call);
        return;
    }
    statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        element_text(call, queues[i]);
}

bool postgres_aside(struct store *store, const char *const *queues, size_t count,
                    struct aside_list *types_out, struct error *err)
{
    struct arena *arena = &types_out->arena;
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_ASIDE_TYPES);
    CLEANUP(answer_done) struct answer answer = {0};

    bind_queues(&call, queues, count);
    if (!statement_run(&call, &answer, err))
        return false;
    while (answer_next(&answer)) {
        struct aside_type *type = aside_list_add(types_out);
        if (type == NULL)
            return error_no_memory(err);
        type->queue = answer_text(&answer, arena);
        type->type = answer_text(&answer, arena);
        type->why = (enum job_aside)answer_int(&answer);
        type->since = answer_int(&answer);
    }
    return !arena->failed || error_no_memory(err);
}

static void bind_type(struct statement *call, const struct aside_type *type, usec_t before)
{
    call->writes = true;
    statement_text(call, type->queue);
    statement_text(call, type->type);
    statement_int4(call, (int)type->why);
    statement_int_or_null(call, before);
}

static bool run_and_count(struct statement *call, size_t *count_out, struct error *err)
{
    CLEANUP(answer_done) struct answer answer = {0};

    if (!statement_run(call, &answer, err))
        return false;
    *count_out = answer_next(&answer) ? (size_t)answer_int(&answer) : 0;
    return true;
}

bool postgres_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                         size_t limit, size_t *moved_out, struct error *err)
{
    struct postgres *postgres = postgres_of(store);
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_BRING_BACK);

    bind_type(&call, type, before);
    statement_int(&call, at_most(limit));
    if (!run_and_count(&call, moved_out, err))
        return false;
    heads_forget(&postgres->heads);
    if (*moved_out > 0)
        pg_bell_ring(postgres);
    return true;
}

bool postgres_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                      size_t limit, size_t *ended_out, struct error *err)
{
    const char *epitaph = aside_epitaph(type->why);
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_GIVE_UP);

    bind_type(&call, type, before);
    statement_bytes(&call, (struct bytes){(const unsigned char *)epitaph, strlen(epitaph)});
    statement_int4(&call, aside_reason(type->why));
    statement_int(&call, now);
    statement_int(&call, at_most(limit));
    return run_and_count(&call, ended_out, err);
}
