/*
 * protocol.h - numbers by which the driver and the functions of the schema understand each other.
 * SQL knows them by these names: scripts/embed-sql.
 */
#ifndef POSTGRES_PROTOCOL_H
#define POSTGRES_PROTOCOL_H

/* What a row that exchange() answers is about; the type `exchanged` has its columns. */
enum pg_row {
    ROW_VERDICT = 0, /* a settlement that was refused */
    ROW_JOB = 1,     /* that was reserved */
    ROW_LIMIT = 2,   /* why a share got no more */
    ROW_BELL = 3,    /* somebody is to be woken */
    ROW_LOOKED = 4,  /* a share was looked for from the head of its queue */
};

/* The part of a lease's token that all of its batch have in common. */
#define BATCH_TOKEN_SIZE 16

/* What an advisory lock is about. */
enum pg_lock {
    LOCK_BELL = 0, /* LOCK_SLEEPS by whoever sleeps, LOCK_PRODUCES by producers */
    LOCK_QUEUE = 1,
    LOCK_POOL = 2,
    LOCK_TURN = 3,
    LOCK_RETENTION = 4, /* only tried */
};

#define LOCK_SLEEPS   0
#define LOCK_PRODUCES 1

/* Whether to go to sleep while others produce: they would ring for each job. */
enum pg_patience {
    PATIENCE_NONE = 0,
    PATIENCE_SOME = 1, /* not if somebody produces */
    PATIENCE_MORE = 2, /* not yet, in any case */
};

#endif
