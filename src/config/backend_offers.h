/*
 * backend_offers.h - which backend counts where several are named: the most explicit one.
 */
#ifndef CONFIG_BACKEND_OFFERS_H
#define CONFIG_BACKEND_OFFERS_H

#include "base/base.h"

struct config;
struct diagnostics;

/* Who may name it; the first who does has it. */
enum backend_source {
    BACKEND_TYPED,    /* --backend */
    BACKEND_NAMED,    /* backend: of a file named by --config */
    BACKEND_VARIABLE, /* $TASKHARBOR_BACKEND */
    BACKEND_FOUND,    /* backend: of a file found by itself, and the default of any file */
    BACKEND_SOURCES
};

/* URLs; NULL: not said. They are those of the caller, the config and the environment. */
struct backend_offers {
    const char *urls[BACKEND_SOURCES];
};

/* `typed` NULL: no --backend. `config` may be an empty one: there is none. */
struct backend_offers backend_offers_find(const char *typed, const struct config *config,
                                          bool config_is_named);

/* The source that counts; BACKEND_SOURCES when nobody says. */
enum backend_source backend_offers_choose(const struct backend_offers *offers);

/* Says at its place in the config what is wrong with the backend that it names. */
void backend_offers_refuse(struct diagnostics *diagnostics, const char *reason);

#endif
