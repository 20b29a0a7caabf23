/*
 * template.c - the options of `thctl enqueue`, and the job that they describe.
 */
#include "thctl/template.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "thctl/when.h"

#include <string.h>

#define HEADERS_TEXT_MAX ((size_t)1 << 20) /* that is built: job_validate() has the limit */

static const char *const update_run_at_names[] = {"always", "never", "if_earlier", "if_later",
                                                  NULL};

/* clang-format off */
const struct option template_options[] = {
    [TEMPLATE_FILE] = {"file", 'f', "F", "read the payload from a file", OPTION_TEXT},
    [TEMPLATE_RAW] = {"raw", 0, NULL, "the payload is any bytes, not JSON", OPTION_FLAG},
    [TEMPLATE_QUEUE] = {"queue", 'q', "NAME", "the queue (default: default)", OPTION_NAME},
    [TEMPLATE_RUN_AT] = {"run-at", 0, "WHEN", "not before: +5m, 09:00, 'tomorrow 09:00', 2026-01-31T10:00:00Z",
                         OPTION_TEXT},
    [TEMPLATE_PRIORITY] = {"priority", 'p', "N", "0 (most urgent) to 9 (default: 5)", OPTION_NUMBER,
                           .min = 0, .max = JOB_PRIORITY_MAX},
    [TEMPLATE_TIMEOUT] = {"timeout", 0, "DURATION", "of one execution: 500ms 30s 5m 2h (default: the handler's)", OPTION_DURATION,
                          .min = USEC_PER_MSEC, .max = JOB_TIMEOUT_MAX},
    [TEMPLATE_MAX_ATTEMPTS] = {"max-attempts", 0, "N", "failures until it is dead (default: the handler's)", OPTION_NUMBER,
                               .min = 1, .max = JOB_COUNT_MAX},
    [TEMPLATE_MAX_STALLS] = {"max-stalls", 0, "N", "lost leases until it is dead (default: the handler's)", OPTION_NUMBER,
                             .min = 1, .max = JOB_COUNT_MAX},
    [TEMPLATE_KEY] = {"key", 'k', "KEY", "of jobs with one key at most one waits and one runs", OPTION_TEXT},
    [TEMPLATE_UPDATE_PAYLOAD] = {"update-payload", 0, "BOOL", "if one with the key waits: take this payload (default: true)", OPTION_CHOICE,
                                 .choices = options_booleans},
    [TEMPLATE_UPDATE_RUN_AT] = {"update-run-at", 0, "HOW", "and this time: always never if_earlier if_later (default: always)", OPTION_CHOICE,
                                .choices = update_run_at_names},
    [TEMPLATE_UPDATE_RETRY] = {"update-retry", 0, "BOOL", "and these limits (default: true)", OPTION_CHOICE,
                               .choices = options_booleans},
    [TEMPLATE_RESET_COUNTS] = {"reset-counts", 0, NULL, "and forget its failures", OPTION_FLAG},
    [TEMPLATE_IDEMPOTENCY_KEY] = {"idempotency-key", 'i', "KEY", "store it once, however often it is sent", OPTION_TEXT},
    [TEMPLATE_HEADER] = {"header", 0, "NAME=VALUE", "send this along to the handler; again for another one", OPTION_TEXT,
                         .is_several = true},
    [TEMPLATE_TAG] = {"tag", 0, "NAME", "list the job by this name, too; again for another one", OPTION_NAME,
                      .is_several = true},
    [TEMPLATE_ID] = {"id", 0, "UUID", "use this id", OPTION_ID},
    [TEMPLATE_WAIT] = {"wait", 'w', "D", "follow the job to its end, or for this long: --wait=30s", OPTION_DURATION,
                       .min = USEC_PER_MSEC, .max = USEC_MAX, .is_optional = true},
    [TEMPLATE_BULK] = {"bulk", 0, "F", "one JSON object per line, one job each; - is stdin", OPTION_TEXT},
    [TEMPLATE_LINES] = {"lines", 'l', NULL, "each line of - or --file is the payload of a job", OPTION_FLAG},
    [TEMPLATE_NULL] = {"null", '0', NULL, "with --lines: a line ends with a NUL, as from find -print0", OPTION_FLAG},
    [TEMPLATE_SKIP_BAD] = {"skip-bad", 0, NULL, "store the good lines although some are bad", OPTION_FLAG},
    [TEMPLATE_QUIET] = {"quiet", 0, NULL, "print no ids", OPTION_FLAG},
    [TEMPLATE_OPTIONS] = {.name = NULL},
};
/* clang-format on */

static bool truth(const struct option_value *value, bool fallback)
{
    return value->given ? value->number != 0 : fallback;
}

static struct keyed_flags flags_of(const struct option_value *options)
{
    struct keyed_flags flags = keyed_flags_default;
    const struct option_value *run_at = &options[TEMPLATE_UPDATE_RUN_AT];

    flags.payload = truth(&options[TEMPLATE_UPDATE_PAYLOAD], flags.payload);
    flags.retry = truth(&options[TEMPLATE_UPDATE_RETRY], flags.retry);
    flags.reset_counts = options[TEMPLATE_RESET_COUNTS].given;
    if (run_at->given && !update_run_at_parse(run_at->text, &flags.run_at))
        flags.run_at = keyed_flags_default.run_at;
    return flags;
}

static bool is_among(const struct option_value *headers, size_t count, const char *name,
                     size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(headers->all[i], name, length) == 0 && headers->all[i][length] == '=')
            return true;
    return false;
}

/* NAME=VALUE as a member of the object. */
static bool add_header(struct json_writer *json, const struct option_value *headers, size_t number,
                       struct arena *arena, struct error *err)
{
    const char *text = headers->all[number], *equals = strchr(text, '=');
    char shown[EXCERPT_SIZE];

    if (!equals || equals == text)
        return error_set(err, TH_E_INVALID, "--header '%s' is not NAME=VALUE",
                         excerpt_of(text, shown));
    const size_t length = (size_t)(equals - text);
    const char *name = arena_text_of(arena, text, length);
    if (!text_is_utf8((struct bytes){(const unsigned char *)text, strlen(text)}))
        return error_set(err, TH_E_INVALID, "--header %s is not UTF-8", excerpt_of(name, shown));
    if (is_among(headers, number, text, length))
        return error_set(err, TH_E_INVALID, "--header %s is given twice", excerpt_of(name, shown));
    json_write_text(json, name, equals + 1);
    return true;
}

static bool make_headers(const struct option_value *headers, struct arena *arena, struct job *job,
                         struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(HEADERS_TEXT_MAX);
    struct json_writer json = {.out = &text};

    if (!headers->given)
        return true;
    json_write_open(&json, NULL, '{');
    for (size_t i = 0; i < headers->count; i++)
        if (!add_header(&json, headers, i, arena, err))
            return false;
    json_write_close(&json, '}');
    if (!buffer_ok(&text, err))
        return error_prefix(err, "--header");
    job->headers = arena_text(arena, buffer_str(&text));
    return !arena->failed || error_no_memory(err);
}

bool template_make(const struct option_value *options, const char *type, usec_t now,
                   struct arena *arena, struct job *job_out, struct error *err)
{
    struct job job = job_defaults();

    job.type = type;
    job.id = options[TEMPLATE_ID].id;
    if (options[TEMPLATE_QUEUE].given)
        job.queue = options[TEMPLATE_QUEUE].text;
    if (options[TEMPLATE_PRIORITY].given)
        job.priority = (int)options[TEMPLATE_PRIORITY].number;
    job.timeout = options[TEMPLATE_TIMEOUT].number;
    job.max_attempts = (int)options[TEMPLATE_MAX_ATTEMPTS].number;
    job.max_stalls = (int)options[TEMPLATE_MAX_STALLS].number;
    job.key = options[TEMPLATE_KEY].text;
    job.update = flags_of(options);
    job.idempotency_key = options[TEMPLATE_IDEMPOTENCY_KEY].text;
    job.encoding = options[TEMPLATE_RAW].given ? JOB_RAW : JOB_JSON;
    job.tags = (struct tags){options[TEMPLATE_TAG].all, options[TEMPLATE_TAG].count};
    if (!make_headers(&options[TEMPLATE_HEADER], arena, &job, err))
        return false;
    if (options[TEMPLATE_RUN_AT].given &&
        !when_parse(options[TEMPLATE_RUN_AT].text, now, &job.run_at, err))
        return error_prefix(err, "--run-at");
    *job_out = job;
    return true;
}

usec_t template_wait(const struct option_value *options)
{
    const struct option_value *wait = &options[TEMPLATE_WAIT];

    return wait->text ? wait->number : USEC_MAX;
}
