/*
 * <taskharbor/plugin.h> - a handler as a function in a shared object, in C and C++.
 *
 *     #include <taskharbor/plugin.h>
 *
 *     static enum th_outcome thumbnail(const struct th_job *job, struct th_context *ctx)
 *     {
 *         if (job->payload_size == 0) {
 *             th_error(ctx, "empty payload");
 *             return TH_DEAD;
 *         }
 *         th_progress(ctx, 40, "resizing");
 *         return th_cancelled(ctx) ? TH_RETRY : TH_DONE;
 *     }
 *
 *     TH_PLUGIN("thumbnail", {"thumbnail", thumbnail}, {"thumbnail:*", thumbnail})
 *
 *     cc -shared -fPIC -o libthumbnail.so thumbnail.c
 *
 * There is nothing to link: what a plugin calls comes with its context. A worker loads it before
 * the first job that needs it, and runs one job at a time, all on the same thread. A plugin that
 * crashes takes its worker with it, and nobody else.
 *
 * The functions below take the context that was handed in, on the thread it was handed in on, and
 * only until the call that it was handed in for returns. What they are given is copied.
 *
 * Binary compatibility. A thd loads plugins of its own major ABI version and of no newer minor one.
 * Structs that thd fills in grow at their ends only; never copy them, and never take their sizeof.
 */
#ifndef TASKHARBOR_PLUGIN_H
#define TASKHARBOR_PLUGIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TH_PLUGIN_MAGIC     0x50424854u /* "THBP" */
#define TH_PLUGIN_ABI_MAJOR 1u
#define TH_PLUGIN_ABI_MINOR 1u
#define TH_PLUGIN_ABI       (TH_PLUGIN_ABI_MAJOR << 16 | TH_PLUGIN_ABI_MINOR)

#ifdef __GNUC__
#define TH_PLUGIN_EXPORT       __attribute__((visibility("default")))
#define TH_PLUGIN_PRINTF(n, m) __attribute__((format(printf, n, m)))
#else
#define TH_PLUGIN_EXPORT
#define TH_PLUGIN_PRINTF(n, m)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a job ended. */
enum th_outcome {
    TH_DONE = 0,
    TH_RETRY = 1,  /* failed: counted, and tried again as `retry` and `max_attempts` say */
    TH_DEAD = 2,   /* failed, and trying again cannot help */
    TH_SNOOZE = 3, /* later, nothing counted: after th_snooze(), or retry.base_delay from now */
};

/* One execution of one job. */
struct th_job {
    const char *id;
    const char *type;
    const char *queue;
    const char *payload; /* bytes, followed by a NUL that payload_size does not count */
    size_t payload_size;
    int attempt; /* 1 is the first */
    int max_attempts;
    int64_t execution; /* counts every start of the job: a fencing number */
    int64_t deadline;  /* unix seconds; 0: none */
    /* Since ABI 1.1: */
    const char *headers; /* what the producer sent along, a JSON object; NULL: nothing */
};

struct th_api;

/* The rest of it is thd's. */
struct th_context {
    const struct th_api *api;
};

/* What thd does for a plugin: call it through the functions below. */
struct th_api {
    size_t size;
    void (*error)(struct th_context *ctx, const char *format, va_list arguments);
    void (*log)(struct th_context *ctx, const char *format, va_list arguments);
    void (*progress)(struct th_context *ctx, int percent, const char *text);
    bool (*result)(struct th_context *ctx, const void *data, size_t size);
    void (*snooze)(struct th_context *ctx, double seconds);
    bool (*cancelled)(struct th_context *ctx);
    enum th_outcome (*next)(struct th_context *ctx, const struct th_job *job);
};

/* ---- what a handler may say ---- */

/* Why it failed, for people; the last one counts. Of a long one both ends are kept, 4 KiB in all.
 */
TH_PLUGIN_PRINTF(2, 3)
static inline void th_error(struct th_context *ctx, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ctx->api->error(ctx, format, arguments);
    va_end(arguments);
}

/* A line for the log, with the job's id. The last 4 KiB of all lines, or what `output` of the
 * handler says, are kept with the job. */
TH_PLUGIN_PRINTF(2, 3)
static inline void th_log(struct th_context *ctx, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ctx->api->log(ctx, format, arguments);
    va_end(arguments);
}

/* How far it is, 0 to 100; `text` may be NULL. */
static inline void th_progress(struct th_context *ctx, int percent, const char *text)
{
    ctx->api->progress(ctx, percent, text);
}

/* What the job brought, at most 64 KiB, JSON or any bytes; the last one counts. False when it is
 * too long: then the one before stays. */
static inline bool th_result(struct th_context *ctx, const void *data, size_t size)
{
    return ctx->api->result(ctx, data, size);
}

/* For how long, when TH_SNOOZE is returned. */
static inline void th_snooze(struct th_context *ctx, double seconds)
{
    ctx->api->snooze(ctx, seconds);
}

/* Whether the job has to stop: somebody asked for it, its time is up, its lease is lost, or the
 * pool stops. Whoever goes on is killed after pool.kill_grace. TH_RETRY is then the right answer
 * whatever the reason: only a timeout counts as a failure. */
static inline bool th_cancelled(struct th_context *ctx)
{
    return ctx->api->cancelled(ctx);
}

/* Of middleware only, and once: runs what it is wrapped around. `job` is the one that was handed
 * in, or a copy of it with another payload. */
static inline enum th_outcome th_next(struct th_context *ctx, const struct th_job *job)
{
    return ctx->api->next(ctx, job);
}

/* ---- what a plugin is ---- */

typedef enum th_outcome (*th_function)(const struct th_job *job, struct th_context *ctx);

/* In each worker, before the plugin's first job there. Not 0: it cannot be used now, and th_error()
 * says why; the job waits, nothing is counted, and it is tried again. Only th_error() and th_log()
 * may be called. */
typedef int (*th_init_function)(struct th_context *ctx);

/* When the worker ends, if it ends by itself. */
typedef void (*th_fini_function)(void);

struct th_handler {
    const char *type; /* or a prefix with a trailing * */
    th_function function;
};

/* The one thing that a plugin exports, under the name th_plugin. */
struct th_plugin {
    uint32_t magic;
    uint32_t abi; /* major << 16 | minor */
    size_t size;  /* of this struct */
    const char *name;
    const struct th_handler *handlers;
    size_t handler_count;
    th_init_function init; /* NULL: none; so are the next two */
    th_fini_function fini;
    th_function middleware; /* wrapped around every handler, when pool.middleware names it */
};

extern TH_PLUGIN_EXPORT const struct th_plugin th_plugin;

/* clang-format off */
#define TH_PLUGIN_DESCRIPTOR(name, handlers, count, init, fini, middleware)                        \
    {TH_PLUGIN_MAGIC, TH_PLUGIN_ABI, sizeof(struct th_plugin), name, handlers, count, init, fini,  \
     middleware}
/* clang-format on */

/* TH_PLUGIN("name", {"type", function}, …): handlers and nothing else. */
#define TH_PLUGIN(name, ...) TH_PLUGIN_WITH(name, NULL, NULL, NULL, __VA_ARGS__)

/* TH_PLUGIN_WITH("name", init, fini, middleware, {"type", function}, …), with NULL for none. */
#define TH_PLUGIN_WITH(name, init, fini, middleware, ...)                                          \
    static const struct th_handler th_plugin_handlers[] = {__VA_ARGS__};                           \
    const struct th_plugin th_plugin = TH_PLUGIN_DESCRIPTOR(                                       \
        name, th_plugin_handlers, sizeof th_plugin_handlers / sizeof th_plugin_handlers[0], init,  \
        fini, middleware);

/* TH_MIDDLEWARE("name", init, fini, function): a plugin that is nothing but middleware. */
#define TH_MIDDLEWARE(name, init, fini, function)                                                  \
    const struct th_plugin th_plugin = TH_PLUGIN_DESCRIPTOR(name, NULL, 0, init, fini, function);

#ifdef __cplusplus
}
#endif

#endif
