/*
 * pooler.h - poolers between us and the server.
 *
 * PgBouncer in transaction mode gives each transaction another session: settings, prepared
 * statements, LISTEN and advisory locks of ours would belong to strangers. In session mode all is
 * well.
 */
#ifndef POSTGRES_POOLER_H
#define POSTGRES_POOLER_H

#include "base/base.h"

struct error;
struct postgres;

/* Refuses a connection whose session is not ours alone. */
bool pg_pooler_check(struct postgres *postgres, usec_t deadline, struct error *err) MUST_CHECK;

#endif
