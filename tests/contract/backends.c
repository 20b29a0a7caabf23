/*
 * backends.c - the backends that the contract suite runs against: one row each.
 *
 * Every store of a run lies below one root, so that a run that failed half-way leaves nothing
 * behind: clean_up() takes the root, not a list.
 */
#include "backends.h"

#include "base/text.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In memory: racers have 5 s for a turn, and a busy disk takes longer than that for one sync. */
#define SQLITE_ROOT     "/dev/shm/th-contract-%s"
#define MEMORY_SCHEME   "memory:"
#define SQLITE_SCHEME   "sqlite:"
#define POSTGRES_SCHEMA "th_%s_"
#define MEMORY_FOLDER   "/dev/shm/taskharbor-memory-"

static void make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0)
        return;
    struct stat found;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        return;
    perror(path);
    abort();
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void backend_remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void sqlite_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    char folder[BACKEND_URL_SIZE];

    snprintf(folder, sizeof folder, SQLITE_ROOT, root);
    make_folder(folder);
    snprintf(folder, sizeof folder, SQLITE_ROOT "/%s", root, serial);
    make_folder(folder);
    snprintf(url, BACKEND_URL_SIZE, SQLITE_SCHEME SQLITE_ROOT "/%s/jobs.db", root, serial);
}

static void sqlite_clean_up(const char *root)
{
    char folder[BACKEND_URL_SIZE];

    snprintf(folder, sizeof folder, SQLITE_ROOT, root);
    backend_remove_tree(folder);
}

static void memory_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    snprintf(url, BACKEND_URL_SIZE, MEMORY_SCHEME "contract-%s-%s", root, serial);
}

static const char *memory_clean_up_root; /* nftw() passes no context */

static int remove_memory(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    char prefix[BACKEND_URL_SIZE];

    (void)status;
    snprintf(prefix, sizeof prefix, MEMORY_FOLDER "contract-%s-", memory_clean_up_root);
    if (type == FTW_D && walk->level == 1 && text_starts_with(path, prefix))
        backend_remove_tree(path);
    return type == FTW_D && walk->level == 1 ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

static void memory_clean_up(const char *root)
{
    memory_clean_up_root = root;
    nftw("/dev/shm", remove_memory, 16, FTW_PHYS | FTW_ACTIONRETVAL);
}

/* scripts/with-servers starts one and sets TH_POSTGRES. A test that is skipped proves nothing. */
static const char *postgres_server(void)
{
    const char *url = getenv("TH_POSTGRES");

    if (url && url[0] != '\0')
        return url;
    fprintf(stderr, "TH_POSTGRES names no PostgreSQL server: run this by scripts/with-servers\n");
    exit(2);
}

static void postgres_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    const char *server = postgres_server();

    snprintf(url, BACKEND_URL_SIZE, "%s%cschema=" POSTGRES_SCHEMA "%s", server,
             strchr(server, '?') ? '&' : '?', root, serial);
}

static void postgres_clean_up(const char *root)
{
    char prefix[64];

    snprintf(prefix, sizeof prefix, POSTGRES_SCHEMA, root);
    postgres_drop_schemas(postgres_server(), prefix);
}

/* Each store has a prefix of its own on one server, or on one cluster. */
#define REDIS         "TH_REDIS_CONTRACT"
#define REDIS_TLS     "TH_REDIS_TLS"
#define REDIS_CLUSTER "TH_REDIS_CLUSTER"
#define REDIS_QUEUES  30

static void redis_url(const char *variable, const char *root, const char *serial,
                      char url[BACKEND_URL_SIZE])
{
    const char *server = redis_backdoor_server(variable);

    snprintf(url, BACKEND_URL_SIZE, "%s%cprefix=contract-%s-%s", server,
             strchr(server, '?') ? '&' : '?', root, serial);
}

static void redis_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    redis_url(REDIS, root, serial, url);
}

static void redis_clean_up(const char *root)
{
    redis_backdoor_clean_up(redis_backdoor_server(REDIS), root);
}

static void rediss_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    redis_url(REDIS_TLS, root, serial, url);
}

static void rediss_clean_up(const char *root)
{
    redis_backdoor_clean_up(redis_backdoor_server(REDIS_TLS_PLAIN), root);
}

static void cluster_fresh_url(const char *root, const char *serial, char url[BACKEND_URL_SIZE])
{
    redis_url(REDIS_CLUSTER, root, serial, url);
}

static void cluster_clean_up(const char *root)
{
    redis_backdoor_clean_up(redis_backdoor_server(REDIS_CLUSTER), root);
}

static const struct backend backends[] = {
    {
        .name = "sqlite",
        .bad_url = SQLITE_SCHEME "/dev/null/jobs.db",
        .fresh_url = sqlite_fresh_url,
        .clean_up = sqlite_clean_up,
        .blocked = TH_E_UNAVAILABLE,
        .backdoor = &sqlite_backdoor,
    },
    {
        .name = "memory",
        .batch_min = 1,
        .bad_url = MEMORY_SCHEME "no/such/name",
        .fleeting = true,
        .fresh_url = memory_fresh_url,
        .clean_up = memory_clean_up,
        .blocked = TH_E_UNAVAILABLE,
        .backdoor = &sqlite_backdoor,
    },
    {
        .name = "postgres",
        .bad_url = "postgres://127.0.0.1:1/nobody_listens_here",
        .fresh_url = postgres_fresh_url,
        .clean_up = postgres_clean_up,
        .backdoor = &postgres_backdoor,
    },
    {
        .name = "postgres-batched",
        .batch_min = 1,
        .about_leases = true,
        .bad_url = "postgres://127.0.0.1:1/nobody_listens_here",
        .fresh_url = postgres_fresh_url,
        .clean_up = postgres_clean_up,
        .backdoor = &postgres_backdoor,
    },
    {
        .name = "postgres-sql",
        .bad_url = "postgres://127.0.0.1:1/nobody_listens_here",
        .fresh_url = postgres_fresh_url,
        .clean_up = postgres_clean_up,
        .backdoor = &postgres_backdoor,
        .adopt = postgres_adopt,
    },
    {
        .name = "redis",
        .bad_url = "redis://127.0.0.1:1/0",
        .queues_max = REDIS_QUEUES,
        .blocked = TH_E_UNCERTAIN,
        .fresh_url = redis_fresh_url,
        .clean_up = redis_clean_up,
        .backdoor = &redis_backdoor,
    },
    {
        .name = "rediss",
        .batch_min = 1,
        .bad_url = "rediss://127.0.0.1:1/0",
        .queues_max = REDIS_QUEUES,
        .blocked = TH_E_UNCERTAIN,
        .fresh_url = rediss_fresh_url,
        .clean_up = rediss_clean_up,
        .backdoor = &redis_backdoor,
    },
    {
        .name = "redis-cluster",
        .bad_url = "redis://127.0.0.1:1/0",
        .rings_late = true,
        .queues_max = REDIS_QUEUES,
        .blocked = TH_E_UNCERTAIN,
        .fresh_url = cluster_fresh_url,
        .clean_up = cluster_clean_up,
        .backdoor = &redis_cluster_backdoor,
    },
};

bool backend_open(const struct backend *backend, const char *url, usec_t deadline,
                  struct store **store_out, struct error *err)
{
    const struct store_options options = {
        .migrate = true, .batch_min = backend->batch_min, .deadline = deadline};

    if (!store_open(url, &options, store_out, err))
        return false;
    if (backend->adopt)
        backend->adopt(*store_out);
    return true;
}

const struct backend *backend_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        if (text_equal(backends[i].name, name))
            return &backends[i];
    }
    return NULL;
}

void backend_print_names(FILE *out)
{
    for (size_t i = 0; i < COUNT_OF(backends); i++)
        fprintf(out, "%s\n", backends[i].name);
}

void backend_sqlite_path(const char *url, char path[BACKEND_URL_SIZE])
{
    if (text_starts_with(url, MEMORY_SCHEME))
        snprintf(path, BACKEND_URL_SIZE, MEMORY_FOLDER "%s/jobs.db", url + strlen(MEMORY_SCHEME));
    else
        snprintf(path, BACKEND_URL_SIZE, "%s", url + strlen(SQLITE_SCHEME));
}
