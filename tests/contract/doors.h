/*
 * doors.h - the doors that a job can come in by: the client, SQL, and the script for Redis.
 *
 * An offer is what a producer says, as text; each door makes of it what its callers would. They
 * have to agree on what is let in, and on what is stored then.
 */
#ifndef TESTS_CONTRACT_DOORS_H
#define TESTS_CONTRACT_DOORS_H

#include "scene.h"

#define OFFER_FIELDS 17

/* NULL: the producer does not say. */
struct offer {
    const char *rule;
    const char *type, *queue, *encoding, *priority, *run_at, *timeout, *max_attempts, *max_stalls,
        *key, *idempotency_key, *id, *update_payload, *update_run_at, *update_retry, *reset_counts,
        *headers, *tags; /* with a space between each */
    struct bytes payload;
    bool is_typed_in_sql; /* PostgreSQL reads this as its own type, in more ways than others do */
};

/* Their names, and where they are. */
struct offer_field {
    const char *name;
    size_t offset;
};

extern const struct offer_field offer_fields[OFFER_FIELDS];

const char *offer_value(const struct offer *offer, size_t field);

struct door_answer {
    bool accepted;
    struct uuid id;
    char sentence[ERROR_TEXT_SIZE]; /* why not; "" where the door has no words of its own for it */
};

struct door {
    const char *backend; /* whose it is, as the name of a backend begins */
    void *(*open)(const struct scene *scene);
    void (*enqueue)(void *state, const struct offer *offer, struct door_answer *answer_out);
    void (*close)(void *state);
};

extern const struct door door_of_client, door_of_sql, door_of_redis;

/* The table that all doors are held to; some are let in, some not. */
extern const struct offer offers[];
extern const size_t offer_count;

/* An offer out of nowhere, the same for the same seed. Lives until the next call. */
const struct offer *offer_make(uint64_t *seed);

#endif
