/*
 * precheck.c - thd --check: would a pool with this config work here?
 */
#include "precheck/precheck.h"

#include "backend.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/output.h"
#include "config/config.h"
#include "precheck/destinations.h"
#include "precheck/finding.h"
#include "precheck/store_sight.h"

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static size_t count_warnings(const struct diagnostics *diagnostics)
{
    size_t count = 0;

    for (size_t i = 0; i < diagnostics->count; i++)
        count += diagnostics->items[i].is_warning;
    return count;
}

void precheck_sum_up(const char *path, const struct diagnostics *diagnostics)
{
    const size_t warnings = count_warnings(diagnostics);
    const size_t errors = diagnostics->count + diagnostics->left_out - warnings;

    if (warnings > 0)
        output_remark("%s: %zu error%s, %zu warning%s", path, errors, plural(errors), warnings,
                      plural(warnings));
    else
        output_remark("%s: %zu error%s", path, errors, plural(errors));
}

/* What is right, and yet does not do what it looks like. */
static void check_http(const struct precheck *precheck)
{
    static const char *const listen[] = {"http", "listen", NULL};
    static const char *const reader[] = {"http", "read_token_file", NULL};
    const struct http_config *http = &precheck->config->http;

    if (http->hosts.count == 0 &&
        (text_starts_with(http->listen, "0.0.0.0:") || text_starts_with(http->listen, "[::]:")))
        finding_warning(precheck, listen,
                        "only this machine has a name for it: list under http.hosts by which names "
                        "others reach it");
    if (http->read_token_file && !http->token_file)
        finding_warning(precheck, reader,
                        "nobody may change anything over HTTP: there is no token_file");
}

/* What the config may say and this thd does not do, and who else may change what it says. */
static void check_sections(const struct precheck *precheck)
{
    static const char *const faktory[] = {"faktory", NULL};
    static const char *const all[] = {NULL};
    const struct config *config = precheck->config;

    if (config->exposed)
        finding_warning(precheck, all,
                        "others may write %s, and so decide what this pool runs: take their right "
                        "to do so (chmod, chown)",
                        config->exposed);
    if (config->has_http)
        check_http(precheck);
    if (config->has_faktory)
        finding_warning(precheck, faktory,
                        "this section does nothing yet: thd does not speak Faktory's protocol");
}

/* The place is that of the URL, if the config has it. */
static void refuse_store(const struct precheck *precheck, const struct error *err)
{
    static const char *const keys[] = {"backend", NULL};

    if (backend_is_from_config(precheck->backend))
        finding_error(precheck, keys, "%s", err->text);
    else
        output_remark("thd: backend of %s: %s",
                      backend_source_name(precheck->backend->source, precheck->config), err->text);
}

static void tell_backend(const struct precheck *precheck)
{
    if (precheck->backend->passed_over)
        output_remark("thd: the backend is %s of %s, not %s", precheck->backend->shown,
                      backend_source_name(precheck->backend->source, precheck->config),
                      precheck->backend->passed_over);
}

static enum status praise(const struct precheck *precheck, const char *remark)
{
    const struct config *config = precheck->config;
    const size_t warnings = precheck->diagnostics->count;
    struct output out = output_to_stdout();

    output_printf(&out, "%s: ok", config->path);
    if (warnings > 0)
        output_printf(&out, ", with %zu warning%s", warnings, plural(warnings));
    output_printf(&out, "\n%d worker%s, %zu queue%s, %zu handler%s, %s%s\n",
                  config->pool.num_workers, plural((size_t)config->pool.num_workers),
                  config->queue_count, plural(config->queue_count), config->handler_count,
                  plural(config->handler_count), precheck->backend->shown, remark);
    return output_finish(&out) ? STATUS_OK : STATUS_FAILED;
}

enum status precheck_run(const struct precheck *precheck,
                         void (*show)(const struct diagnostics *diagnostics))
{
    CLEANUP(store_sight_done) struct store_sight sight = {0};
    struct diagnostics *diagnostics = precheck->diagnostics;
    enum status status = STATUS_OK;
    struct error err;

    check_sections(precheck);
    handlers_check(precheck);
    middleware_check(precheck);
    const bool is_there = store_sight_take(precheck, &sight, &err);
    destinations_check(precheck, &sight);
    if (diagnostics->count > count_warnings(diagnostics))
        status = STATUS_CONFIG;
    else if (!is_there)
        status = err.code == TH_E_INVALID ? STATUS_CONFIG : STATUS_BACKEND;
    if (!is_there)
        refuse_store(precheck, &err);
    diagnostics_sort(diagnostics);
    show(diagnostics);
    tell_backend(precheck);
    if (status == STATUS_OK)
        return praise(precheck, sight.remark);
    if (diagnostics->count > 0)
        precheck_sum_up(precheck->config->path, diagnostics);
    return status;
}
