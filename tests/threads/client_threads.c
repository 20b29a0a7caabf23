/*
 * client_threads.c - threads that work at once, each with a client of its own, as
 * <taskharbor/client.h> promises:
 *
 *     scripts/with-servers client-threads [BACKEND]
 *
 * It shows most when it is built with the thread sanitizer: scripts/sanitize thread
 */
#include "base/base.h"

#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskharbor/client.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  10

/* Servers are named by a variable; each run has a store of its own there. */
static const struct {
    const char *name, *server, *option;
} backends[] = {
    {"sqlite", NULL, NULL},
    {"postgres", "TH_POSTGRES", "schema=threads_"},
    {"redis", "TH_REDIS", "prefix=threads_"},
    {"rediss", "TH_REDIS_TLS", "prefix=threads_"},
    {"redis-cluster", "TH_REDIS_CLUSTER", "prefix=threads_"},
};

static void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static void must(bool worked, const char *what, const struct th_failure *failure)
{
    if (!worked)
        fail("%s: %s: %s", what, th_error_name(failure->code), failure->text);
}

static void look_at_all(struct th_client *client)
{
    struct th_filter filter = TH_FILTER;
    struct th_page *page = NULL;
    struct th_stats *stats = NULL;
    struct th_failure failure;

    must(th_list(client, &filter, &page, &failure), "list", &failure);
    th_page_free(page);
    must(th_stats(client, &stats, &failure), "stats", &failure);
    th_stats_free(stats);
}

static void lead_to_its_end(struct th_client *client, const char *id)
{
    struct th_job_info *job = NULL;
    struct th_failure failure;

    must(th_get(client, id, &job, &failure), "get", &failure);
    th_job_info_free(job);
    must(th_cancel(client, id, &failure), "cancel", &failure);
    must(th_wait(client, id, TH_SECONDS(60), NULL, NULL, &job, &failure), "wait", &failure);
    if (job->state != TH_STATE_CANCELLED)
        fail("%s is %s", id, th_state_name(job->state));
    th_job_info_free(job);
    must(th_remove(client, id, &failure), "remove", &failure);
    if (th_get(client, id, &job, &failure) || failure.code != TH_E_NOT_FOUND)
        fail("%s is still there", id);
}

/* Opening is part of each round: it sets up libraries and the store itself. */
static void *work(void *url)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct th_new_job job = TH_NEW_JOB("work");
        struct th_client *client = NULL;
        struct th_receipt receipt;
        struct th_failure failure;

        job.payload = "{\"n\": 1}";
        must(th_open(url, NULL, &client, &failure), "open", &failure);
        must(th_enqueue(client, &job, &receipt, &failure), "enqueue", &failure);
        look_at_all(client);
        lead_to_its_end(client, receipt.id);
        th_close(client);
    }
    return NULL;
}

static void work_at_once(char *url)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, url) != 0)
            fail("no thread could be started");
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void work_on_server(size_t backend)
{
    const char *server = getenv(backends[backend].server);
    char url[1024];

    if (!server)
        fail("%s names no server: run this by scripts/with-servers", backends[backend].server);
    snprintf(url, sizeof url, "%s%c%s%d", server, strchr(server, '?') ? '&' : '?',
             backends[backend].option, (int)getpid());
    work_at_once(url);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static void work_on_file(void)
{
    char folder[] = "/tmp/th-threads-XXXXXX", url[64];

    if (!mkdtemp(folder))
        fail("no folder could be made");
    snprintf(url, sizeof url, "sqlite:%s/jobs.db", folder);
    work_at_once(url);
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT_OF(backends); i++) {
        if (argc > 1 && strcmp(argv[1], backends[i].name) != 0)
            continue;
        if (!backends[i].server)
            work_on_file();
        else
            work_on_server(i);
    }
    return EXIT_SUCCESS;
}
