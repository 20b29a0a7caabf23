/*
 * postgres_producers.c - enqueues as producers do who speak SQL: by the function behind
 * taskharbor.enqueue(), with the clock of the test.
 *
 * store.c checks a job before it comes here, and the function checks it again; whoever calls
 * the driver's enqueue directly meets the function alone.
 */
#include "backends.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "store/driver.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/connection.h"

#include "postgres_functions.h"

#include <string.h>

#define SQL_MAX ((size_t)64 << 20)

static struct store_driver by_sql; /* the driver's table, but for enqueue */

static void write_specs(struct buffer *specs, const struct job *jobs, size_t count)
{
    struct json_writer json = {.out = specs};

    json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        pg_spec_add_job(&json, NULL, &jobs[i]);
    json_write_close(&json, ']');
}

/* One statement, so all of them or none. */
static bool write_sql(struct postgres *postgres, struct buffer *sql, const struct job *jobs,
                      size_t count, usec_t now, struct error *err)
{
    CLEANUP(buffer_done) struct buffer specs = BUFFER(SQL_MAX);

    write_specs(&specs, jobs, count);
    if (!buffer_ok(&specs, err) ||
        !pg_connection_ensure(postgres, store_deadline(&postgres->base), err))
        return false;
    char *literal = PQescapeLiteral(postgres->conn, buffer_str(&specs), specs.length);
    buffer_printf(sql,
                  "SELECT answer" FUNCTIONS_SUFFIX "(p), p.state, p.existed::int, p.updated::int"
                  " FROM json_array_elements(%s) s, LATERAL produce" FUNCTIONS_SUFFIX
                  "(json_populate_record(NULL::job_spec" FUNCTIONS_SUFFIX ", s), %" PRId64
                  ", %zu) p",
                  literal, now, postgres->base.max_payload);
    PQfreemem(literal);
    return buffer_ok(sql, err);
}

static bool enqueue_group(struct store *store, struct enqueue_group *group, usec_t now,
                          size_t *at_fault_out, struct error *err)
{
    struct enqueued *enqueued_out = group->enqueued_out;
    struct postgres *postgres = (struct postgres *)store;
    CLEANUP(buffer_done) struct buffer sql = BUFFER(SQL_MAX);
    PGresult *result = NULL;

    *at_fault_out = group->count;
    if (!write_sql(postgres, &sql, group->jobs, group->count, now, err) ||
        !pg_connection_ask(postgres, buffer_str(&sql), store_deadline(&postgres->base), &result,
                           err))
        return false;
    pg_scan_starts_forget(&postgres->scan_starts);
    for (int i = 0; i < PQntuples(result); i++) {
        enqueued_out[i] = (struct enqueued){
            .state = (enum job_state)(PQgetvalue(result, i, 1)[0] - '0'),
            .existed = PQgetvalue(result, i, 2)[0] == '1',
            .updated = PQgetvalue(result, i, 3)[0] == '1',
        };
        if (!uuid_parse(PQgetvalue(result, i, 0), &enqueued_out[i].id))
            return error_set(err, TH_E_INTERNAL, "the function answered no id");
    }
    PQclear(result);
    return true;
}

static bool enqueue_by_sql(struct store *store, struct enqueue_group *const *groups, size_t count,
                           usec_t now, struct error *err)
{
    (void)err;
    enqueue_groups_singly(store, groups, count, now, enqueue_group);
    return true;
}

void postgres_adopt(struct store *store)
{
    by_sql = *store->driver;
    by_sql.enqueue = enqueue_by_sql;
    store->driver = &by_sql;
}
