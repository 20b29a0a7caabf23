/*
 * backend_offers.c - which backend counts where several are named.
 */
#include "config/backend_offers.h"

#include "base/text.h"
#include "config/config.h"

#include <stdlib.h>

struct backend_offers backend_offers_find(const char *typed, const struct config *config,
                                          bool config_is_named)
{
    const char *variable = getenv("TASKHARBOR_BACKEND");

    return (struct backend_offers){{
        [BACKEND_TYPED] = typed,
        [BACKEND_NAMED] = config_is_named && config->has_backend ? config->backend : NULL,
        [BACKEND_VARIABLE] = text_is_blank(variable) ? NULL : variable,
        [BACKEND_FOUND] = config->backend,
    }};
}

enum backend_source backend_offers_choose(const struct backend_offers *offers)
{
    enum backend_source source = BACKEND_TYPED;

    while (source < BACKEND_SOURCES && !offers->urls[source])
        source++;
    return source;
}

void backend_offers_refuse(struct diagnostics *diagnostics, const char *reason)
{
    static const char *const keys[] = {"backend", NULL};

    diagnostics_add(diagnostics, config_place(diagnostics, keys), "backend: %s", reason);
}
