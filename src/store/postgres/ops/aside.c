/*
 * aside.c - ready jobs that nobody can run now: which there are, back into line, or to their end.
 */
#include "job/aside.h"
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

#include <string.h>

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static void bind_queues(struct pg_statement *call, const char *const *queues, size_t count)
{
    if (count == 0) {
        pg_statement_null(call);
        return;
    }
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        pg_element_text(call, queues[i]);
}

bool pg_aside(struct store *store, const char *const *queues, size_t count,
              struct aside_list *types_out, struct error *err)
{
    struct arena *arena = &types_out->arena;
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_ASIDE_TYPES);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    bind_queues(&call, queues, count);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    while (pg_answer_next(&answer)) {
        struct aside_type *type = aside_list_add(types_out);
        if (!type)
            return error_no_memory(err);
        type->queue = pg_answer_text(&answer, arena);
        type->type = pg_answer_text(&answer, arena);
        type->why = (enum job_aside)pg_answer_int(&answer);
        type->since = pg_answer_int(&answer);
    }
    return !arena->failed || error_no_memory(err);
}

static void bind_type(struct pg_statement *call, const struct aside_type *type, usec_t before)
{
    call->writes = true;
    pg_statement_text(call, type->queue);
    pg_statement_text(call, type->type);
    pg_statement_int4(call, (int)type->why);
    pg_statement_int_or_null(call, before);
}

static bool run_and_count(struct pg_statement *call, size_t *count_out, struct error *err)
{
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(call, &answer, err))
        return false;
    *count_out = pg_answer_next(&answer) ? (size_t)pg_answer_int(&answer) : 0;
    return true;
}

bool pg_bring_back(struct store *store, const struct aside_type *type, usec_t before, size_t limit,
                   size_t *moved_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_BRING_BACK);

    bind_type(&call, type, before);
    pg_statement_int(&call, at_most(limit));
    if (!run_and_count(&call, moved_out, err))
        return false;
    pg_scan_starts_forget(&postgres->scan_starts);
    if (*moved_out > 0)
        pg_bell_ring(postgres);
    return true;
}

bool pg_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                size_t limit, size_t *ended_out, struct error *err)
{
    const char *epitaph = aside_epitaph(type->why);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_GIVE_UP);

    bind_type(&call, type, before);
    pg_statement_bytes(&call, (struct bytes){(const unsigned char *)epitaph, strlen(epitaph)});
    pg_statement_int4(&call, aside_reason(type->why));
    pg_statement_int(&call, now);
    pg_statement_int(&call, at_most(limit));
    return run_and_count(&call, ended_out, err);
}
