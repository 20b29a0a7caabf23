/*
 * metrics.c - GET /metrics: what this pool has done, and how the queues are, for Prometheus.
 *
 * What was counted lies in shared memory and is always there. The queues are in the store: browse
 * is asked, but not for long, and without its answer they are left out.
 */
#include "api/endpoints.h"
#include "api/inside.h"
#include "api/visit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/metric_text.h"
#include "door/page.h"
#include "process/meters_text.h"
#include "process/process.h"
#include "process/scoreboard.h"

#include <taskharbor/version.h>

#define TEXT_MAX ((size_t)16 << 20)
#define PATIENCE USEC_PER_SEC
#define TYPE     "text/plain; version=0.0.4; charset=utf-8"

static void write_build(struct buffer *out)
{
    static const struct metric_label labels[] = {{"version", TH_VERSION}};

    metric_text_head(out, "taskharbor_build_info", "gauge", "The version of thd, always 1.");
    metric_text_count(out, "taskharbor_build_info", labels, 1, 1);
}

/* As its own processes show themselves: a worker that does not exist has no state. */
static void write_workers(const struct process *process, struct buffer *out)
{
    uint64_t counts[SLOT_STOPPING + 1] = {0};
    struct slot slot;

    for (size_t i = 0; i < scoreboard_slots(process->scoreboard); i++) {
        if (scoreboard_read(process->scoreboard, i, &slot) && slot.number > 0)
            counts[slot.state]++;
    }
    metric_text_head(out, "taskharbor_workers", "gauge", "Workers of this pool, by state.");
    for (enum slot_state i = SLOT_STARTING; i <= SLOT_STOPPING; i++) {
        const struct metric_label labels[] = {{"state", slot_state_name(i)}};

        if (i != SLOT_WAITING) /* for the store, which workers do not have */
            metric_text_count(out, "taskharbor_workers", labels, 1, counts[i]);
    }
}

static void answer_text(struct visit *visit, struct bytes gauges)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(TEXT_MAX);
    const struct process *process = visit->api->process;
    struct error err;

    write_build(&out);
    write_workers(process, &out);
    meters_write(process->meters, &out);
    buffer_add(&out, gauges.data, gauges.length);
    if (!buffer_ok(&out, &err)) {
        visit_refuse_error(visit, &err);
        return;
    }
    struct http_response response = {
        .status = 200,
        .type = TYPE,
        .body = {(const unsigned char *)out.data, out.length},
        .body_is = HTTP_COPIED,
    };

    visit_respond(visit, &response);
}

static void answer_without(struct visit *visit, const struct error *err)
{
    (void)err; /* it is in the log of browse, and among the numbers */
    answer_text(visit, (struct bytes){(const unsigned char *)"", 0});
}

static void answer_with(struct visit *visit, struct bytes pack)
{
    struct page page;
    struct error err;

    if (page_unpack(pack, &page, &err) && page.body.data)
        answer_text(visit, page.body);
    else
        answer_without(visit, &err);
}

static void answer_metrics(struct visit *visit)
{
    CLEANUP(buffer_done) struct buffer nothing = BUFFER(1);
    const struct visit_question question = {
        .peer = API_BROWSE,
        .kind = CALL_GAUGES,
        .pack = &nothing,
        .patience = PATIENCE,
        .answered = answer_with,
        .failed = answer_without,
    };

    if (visit_read(visit, NULL, NULL))
        visit_ask(visit, &question);
}

static const struct route routes[] = {
    {"GET", "/metrics", RIGHT_READ, BODY_NONE, answer_metrics, .name = "metrics",
     .help = "What this pool has done and how the queues are, for Prometheus",
     .answers = {{200, NULL, "text/plain",
                  "The text format 0.0.4; without the queues while the store is away"}}},
};

const struct route_table metrics_routes = {routes, COUNT_OF(routes)};
