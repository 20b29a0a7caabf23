/*
 * checks.h - what can be said of an argument without the database.
 */
#ifndef STORE_CHECKS_H
#define STORE_CHECKS_H

#include "base/base.h"

struct error;
struct store;

bool checks_open(const struct store *store, struct error *err) MUST_CHECK;
bool checks_queue(const char *queue, struct error *err) MUST_CHECK;
bool checks_by(const char *by, struct error *err) MUST_CHECK;    /* NULL is nobody */
bool checks_run_at(usec_t run_at, struct error *err) MUST_CHECK; /* 0 is now */

#endif
