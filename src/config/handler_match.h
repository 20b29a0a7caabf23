/*
 * handler_match.h - a type to its handler: the longest prefix wins.
 */
#ifndef CONFIG_HANDLER_MATCH_H
#define CONFIG_HANDLER_MATCH_H

#include "config/config.h"

/* The handler of exactly this type, else the one with the longest matching prefix; NULL: none. */
const struct handler_config *handler_match(const struct config *config, const char *type);

#endif
