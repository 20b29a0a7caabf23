/*
 * place.c - where the benchmarks of SQLite and PostgreSQL have their database.
 */
#include "bench/bench.h"
#include "bench/postgres/pg_ways.h"
#include "bench/store_ways.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *bench_fresh_path(const char *folder)
{
    if (strstr(folder, "://"))
        return pg_fresh_url(folder);

    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock", "-bell"};
    static char path[4096];
    char victim[4200];

    snprintf(path, sizeof path, "%s/bench.db", folder);
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        snprintf(victim, sizeof victim, "%s%s", path, suffixes[i]);
        unlink(victim);
    }
    return path;
}

struct store *bench_store(const char *path)
{
    char url[4200];
    struct store_options options = {.migrate = true};
    struct store *store = NULL;
    struct error err;

    snprintf(url, sizeof url, "%s%s", strstr(path, "://") ? "" : "sqlite:", path);
    if (!store_open(url, &options, &store, &err))
        bench_die("open", &err);
    return store;
}
