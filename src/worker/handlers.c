/*
 * handlers.c - all handlers of a config, made ready to run: the table of kinds.
 */
#include "worker/handlers.h"

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "worker/handler.h"
#include "worker/schema.h"

#include <assert.h>

static const struct handler_kind *const kinds[] = {
    &handler_command,
    &handler_plugin,
    &handler_resident,
};

static const struct handler_kind *kind_of(const struct handler_config *config)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i]->is_for(config))
            return kinds[i];
    }
    return NULL;
}

static bool prepare(const struct handler_config *config, struct arena *arena,
                    struct handler *handler_out, struct error *err)
{
    *handler_out = (struct handler){.config = config, .kind = kind_of(config)};
    assert(handler_out->kind); /* the config has exactly one of them */
    if (config->schema && !schema_load(config->schema, arena, &handler_out->schema, err))
        return error_prefix(err, "schema");
    return handler_out->kind->prepare(config, arena, &handler_out->prepared, err);
}

/* The first that can share its state with this one. */
static size_t home_of(const struct handler *items, size_t index)
{
    const struct handler_sharing *sharing = items[index].kind->sharing;

    for (size_t i = 0; sharing && i < index; i++) {
        if (items[i].kind == items[index].kind &&
            sharing->is_same(items[i].prepared, items[index].prepared))
            return i;
    }
    return index;
}

bool handlers_prepare(const struct config *config, struct arena *arena,
                      const struct worker_handlers **handlers_out, struct error *err)
{
    struct worker_handlers *handlers = arena_alloc(arena, sizeof *handlers);
    struct handler *items = arena_alloc(arena, (config->handler_count + 1) * sizeof *items);

    if (!handlers || !items)
        return error_no_memory(err);
    for (size_t i = 0; i < config->handler_count; i++) {
        if (!prepare(&config->handlers[i], arena, &items[i], err))
            return error_prefix(err, "handler '%s'", config->handlers[i].pattern);
        items[i].home = home_of(items, i);
    }
    *handlers = (struct worker_handlers){items, config->handler_count};
    *handlers_out = handlers;
    return true;
}

void handler_report_released(struct handler_report *report)
{
    *report = (struct handler_report){
        .outcome = {.kind = OUTCOME_RELEASED, .run = {.exit_code = JOB_NO_EXIT_CODE}},
        .progress_percent = -1,
        .progress_text = "",
    };
}

void handler_report_invalid(struct handler_report *report, const struct error *err)
{
    handler_report_released(report);
    report->outcome.kind = OUTCOME_INVALID;
    report->outcome.error = arena_text(&report->arena, err->text);
}

void handler_report_unstarted(struct handler_report *report, const struct error *err)
{
    handler_report_released(report);
    report->could_not_start = true;
    report->outcome.error = arena_text(&report->arena, err->text);
    report->outcome.run.error = report->outcome.error;
}

struct outcome handler_report_outcome(const struct handler_report *report)
{
    struct outcome outcome = report->outcome;

    outcome.has_progress = report->progress_percent >= 0;
    outcome.progress_percent = report->progress_percent;
    outcome.progress_text = report->progress_text;
    return outcome;
}

void handler_report_done(struct handler_report *report)
{
    arena_done(&report->arena);
}
