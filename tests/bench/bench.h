/*
 * bench.h - one piece of work, done in several ways in the same run.
 *
 * Machines differ and are busy with other things; ratios of neighbours in time hardly are. So
 * every way does the work in each of a few rounds, in turn, and the median of its rounds counts.
 */
#ifndef BENCH_H
#define BENCH_H

#include "base/base.h"
#include "base/error.h"

#define BENCH_ROUNDS  9
#define BENCH_PAYLOAD 100 /* bytes */

/* Jobs of the work, and how many of them share a transaction. */
struct bench_size {
    size_t jobs;
    size_t batch;
};

/* One way to do it on a fresh database in `folder`; answers how long the measured part took. */
typedef usec_t (*bench_way)(const char *folder, struct bench_size size);

struct bench_row {
    const char *name;
    struct bench_size size;
    bench_way ours;
    bench_way raw;     /* the same statements on the same schema, without the driver around them */
    bench_way minimal; /* integer key, one index: the least that could be called a queue */
};

void bench_print_head(void);
void bench_run(const char *folder, const struct bench_row *row);

/* Ends the program with a sentence. */
void bench_die(const char *what, const struct error *err) __attribute__((noreturn));

/* Ends the program unless they are the same: a bare loop that does not do the work any more,
 * because the store has changed, must not be compared with. */
void bench_expect(const char *what, size_t found, size_t expected);

/* A file name in the folder, or a URL on the server, after removing what an earlier round left
 * there. */
const char *bench_fresh_path(const char *folder);

/* The payload every job has: JSON of BENCH_PAYLOAD bytes. */
struct bytes bench_payload(void);

#endif
