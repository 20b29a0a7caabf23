/*
 * store_sight.h - what --check sees of the backend: whether it answers, and who serves it.
 */
#ifndef PRECHECK_STORE_SIGHT_H
#define PRECHECK_STORE_SIGHT_H

#include "base/base.h"
#include "client/offers.h"
#include "precheck/precheck.h"

struct error;

struct store_sight {
    const char *remark;   /* for people: " (will be created)" or "" */
    struct offers offers; /* of the live pools, except those whose place the checked config takes */
};

/* False when the backend does not answer, or cannot be used. Nothing is created. */
bool store_sight_take(const struct precheck *precheck, struct store_sight *sight,
                      struct error *err) MUST_CHECK;
void store_sight_done(struct store_sight *sight);

#endif
