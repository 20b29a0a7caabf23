/*
 * print_file.h - what a plugin prints and logs, in a file in memory that outlives its worker.
 *
 *     plugin --printf(), th_log()--> file --news--> the worker, for the log and the job
 *                                      `----read--> the dispatcher, when the worker has died
 *
 * The master makes one for each worker that may run plugins. There it is the standard output and
 * the standard error: writing to it waits for nobody, and whether anything was written is seen in
 * memory, so a plugin that prints nothing costs no system call.
 *
 * It holds the last of what the run at hand has said, th_log() included. A plugin may write into it
 * whatever it likes: its size is sealed, and what it says of itself is believed within that.
 */
#ifndef PROCESS_PRINT_FILE_H
#define PROCESS_PRINT_FILE_H

#include "base/base.h"
#include "process/lease_table.h"

struct arena;
struct error;

#define PRINT_FILE_SIZE ((size_t)1 << 20) /* what does not fit between two looks is lost */

/* ---- the master ---- */

/* One open file, twice; both are the caller's, even after an error, and may be -1 then. */
bool print_file_make(int ends_out[2], struct error *err) MUST_CHECK;

/* ---- a worker, with its own ---- */

/* Zeroed: there is none, and nothing is ever printed. */
struct print_file {
    int fd; /* the caller's */
    unsigned char *memory;
    size_t told;      /* up to where it was looked at */
    struct hold hold; /* of the run at hand */
};

bool print_file_open(struct print_file *file, int fd, struct error *err) MUST_CHECK;
void print_file_close(struct print_file *file);

/* From here on it is the standard output, line by line, and the standard error. */
bool print_file_catch(const struct print_file *file, struct error *err) MUST_CHECK;

/* A run begins: what was said before is forgotten. */
void print_file_begin(struct print_file *file, struct hold hold);

/* What was printed since the last look; it stays until room is made for more. */
struct bytes print_file_news(struct print_file *file);
void print_file_make_room(struct print_file *file);

/* Right after a look: a line that was not printed, but is to be kept with what was. */
void print_file_add(struct print_file *file, struct bytes line);

/* ---- the dispatcher, with that of a worker that has died ---- */

struct print_record {
    struct hold hold;    /* of the run that said it, by the worker's own word */
    struct bytes output; /* the last of it */
    size_t told;         /* how much of it the worker had looked at */
};

/* At most `most` bytes of the end. */
bool print_file_read(int fd, size_t most, struct arena *arena, struct print_record *record_out,
                     struct error *err) MUST_CHECK;

#endif
