/*
 * backends.h - the backends that the contract suite runs against.
 *
 * To add one: a row in backends.c, and its backdoor in a file of its own.
 */
#ifndef TESTS_CONTRACT_BACKENDS_H
#define TESTS_CONTRACT_BACKENDS_H

#include "base/base.h"
#include "base/uuid.h"
#include "store/store.h"

#include <taskharbor/error.h>

#include <stdio.h>

#define BACKEND_URL_SIZE 512

/* What a store must never hold, however it is written to. The job is ready for the first one and
 * running for the others. */
enum violation {
    RUNNING_WITHOUT_LEASE,
    LEASE_WITHOUT_RUNNING,
    RUNNING_WITHOUT_TOKEN,
    RUNNING_WITHOUT_EXPIRY,
    LEASED_TWICE,
};

#define VIOLATIONS 5

/* Whose record is damaged: a job in this state, or nobody's. */
enum damage_victim {
    VICTIM_NONE,
    VICTIM_READY,
    VICTIM_LARGE,
    VICTIM_ONCE,
    VICTIM_ASIDE,
    VICTIM_SCHEDULED,
    VICTIM_RETRY,
    VICTIM_RUNNING,
    VICTIM_KEYED,
    VICTIM_BLOCKED,
    VICTIM_DONE,
    VICTIM_DEAD,
    VICTIM_CANCELLED,
};

/* One record, and what is done to it. */
struct damage {
    const char *what; /* for people */
    const char *kind, *key, *name, *way;
    enum damage_victim victim;
    bool takes_all; /* jobs that are not the victim's are lost with it */
};

/* The way to the stored data past the driver, for the few cases that are about what somebody else
 * did to it. A backdoor that cannot do what it is asked to ends the process. */
struct backdoor {
    /* The stored job cannot be run any more: its type is no name. */
    void (*damage_job)(const char *url, const struct uuid *id);

    /* Its headers are not JSON any more. NULL: that is one of the damages below. */
    void (*damage_headers)(const char *url, const struct uuid *id);

    /* Any record in any way, by number: NULL after the last. Both are NULL where the database
     * itself holds records to their form. */
    const struct damage *(*damage)(size_t number);
    void (*do_damage)(const char *url, const char *queue, const struct uuid *victim,
                      const struct damage *damage);

    void (*set_schema)(const char *url, int version, int usable_from);

    /* True when the schema's own checks refused to hold the job like that, or when the schema has
     * no way to say it. */
    bool (*refuses)(const char *url, const struct uuid *id, enum violation violation);

    /* Whether what is stored agrees with itself: every job in exactly one state, the keys with the
     * jobs that wait and run. Otherwise `why` says which rule is broken. */
    bool (*is_sound)(const char *url, char *why, size_t size);

    /* Nobody else can write, until this process ends. */
    void (*block)(const char *url);

    /* Another server answers from now on, which does not know our scripts. NULL: there are none. */
    void (*forget_scripts)(const char *url);

    /* How many the server has found so far. NULL: it finds none, or cannot have any. */
    int64_t (*deadlocks)(const char *url);

    /* From now on the handle enqueues as producers do; NULL: there is no such way. */
    void (*by_sql)(struct store *store);

    /* A transaction of a producer's own, that has enqueued a job, or cancelled one, and not been
     * committed yet; and its commit. NULL: there is no such thing. */
    void *(*produce)(const char *url, const char *queue);
    void *(*cancel)(const char *url, const struct uuid *id);
    void (*commit)(void *transaction);

    /* The handle's last look at all of its queues was now, and took long. NULL: it never does. */
    void (*slow_down)(struct store *store, usec_t now);
};

struct backend {
    const char *name;    /* as in `contract-tests sqlite` */
    const char *bad_url; /* well formed, but nothing can be there */
    bool fleeting;       /* its stores go away with their last user */

    size_t batch_min;  /* as in struct store_options: 1, so that each case is about shared leases */
    bool about_leases; /* only the suites that are about leases are run: another row has the rest */

    /* How many queues a store may have before its calls get slow: one that looks for a job asks
     * each. 0: any number. */
    size_t queues_max;

    bool rings_late; /* the bell is not heard at once: it goes from node to node */

    /* What a call says that nobody let through in time. A server that has been sent the call may
     * still have it, and only itself knows. */
    enum th_error_code blocked;

    /* Where nothing is yet. `root` and `serial` are names; no two runs have the same root, no two
     * stores of a run the same serial. */
    void (*fresh_url)(const char *root, const char *serial, char url[BACKEND_URL_SIZE]);

    /* Removes every store that this run's fresh URLs have named. */
    void (*clean_up)(const char *root);

    const struct backdoor *backdoor;

    /* Another way in, for producers: from now on the handle enqueues by it. NULL: there is none. */
    void (*adopt)(struct store *store);
};

extern const struct backdoor sqlite_backdoor;
extern const struct backdoor postgres_backdoor;

/* postgres_backdoor.c: every schema of the database whose name starts like this. */
void postgres_drop_schemas(const char *url, const char *prefix);

/* postgres_producers.c: the handle enqueues by the SQL function for producers. */
void postgres_adopt(struct store *store);

/* store_open(), with the backend's way in; a deadline of 0 is the usual one. */
bool backend_open(const struct backend *backend, const char *url, usec_t deadline,
                  struct store **store_out, struct error *err) MUST_CHECK;

extern const struct backdoor redis_backdoor, redis_cluster_backdoor;

/* The server's URL from this variable; ends the program when it is not set. */
const char *redis_backdoor_server(const char *variable);

#define REDIS_TLS_PLAIN   "TH_REDIS_TLS_PLAIN" /* the server of rediss, around TLS */
#define REDIS_HOST_SIZE   256
#define REDIS_PREFIX_SIZE 128

/* Where a store is, for those who go there past the driver. */
struct redis_place {
    char host[REDIS_HOST_SIZE], prefix[REDIS_PREFIX_SIZE];
    int port;
};

void redis_backdoor_place(const char *url, struct redis_place *place_out);
void redis_backdoor_clean_up(const char *server, const char *root);

/* NULL when there is none of that name. */
const struct backend *backend_find(const char *name);

/* All names, one per line. */
void backend_print_names(FILE *out);

/* The file of a URL, for the two backends that keep jobs in an SQLite file. */
void backend_sqlite_path(const char *url, char path[BACKEND_URL_SIZE]);

/* A folder and all that is in it. */
void backend_remove_tree(const char *path);

#endif
