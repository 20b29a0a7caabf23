/*
 * diagnostics.h - what is wrong with a config, all of it, each with its place.
 *
 *     jobs.yaml:14:5: unknown key 'num_worker' in 'pool' (did you mean 'num_workers'?)
 *
 * The loader goes on after an error and adds the next one; whoever asked for the config shows the
 * list. Texts never hold a value that may be a secret, and neither do the source lines that are
 * shown to people: a line that looks as if it had one is left out.
 */
#ifndef CONFIG_DIAGNOSTICS_H
#define CONFIG_DIAGNOSTICS_H

#include "base/arena.h"
#include "base/base.h"

#include <sys/types.h>

struct buffer;
struct node;

#define DIAGNOSTICS_SHOWN 50

/* A file that was read. */
struct source {
    const char *name;   /* as messages call it */
    const char *folder; /* absolute: relative paths in the file start here */
    struct bytes text;
    size_t order;                  /* 0 is the main file, then as they were included */
    const struct source *includer; /* NULL: the main file */
    dev_t device;
    ino_t inode;
    bool exposed; /* others may write it */
};

/* Where something stands. */
struct place {
    const struct source *source;
    size_t line, column; /* from 1, column in characters; line 0 is the file as a whole */
};

struct diagnostic {
    struct place place;
    const char *text;
    bool is_warning; /* nothing is refused for it */
};

struct diagnostics {
    struct arena arena;       /* has the texts, and all that was read: sources and trees */
    struct diagnostic *items; /* owned */
    size_t count;
    size_t left_out;         /* found when the list was full */
    bool failed;             /* out of memory: something is missing */
    const struct node *root; /* what was read, all files together; NULL: nothing could be */
    const char *exposed;     /* a file that others may write, or NULL: exposure.h */
};

/* Adds a sentence without a full stop. Returns false, so that refusing is one line. */
bool diagnostics_add(struct diagnostics *diagnostics, struct place place, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The same for a text that is complete, and may be a warning. */
bool diagnostics_add_text(struct diagnostics *diagnostics, struct place place, bool is_warning,
                          const char *text);

/* " (did you mean 'x'?)", or "" when no candidate is close or the list is full. Lives as long as
 * the list. */
const char *diagnostics_hint(struct diagnostics *diagnostics, const char *word,
                             const char *const *candidates, size_t count);

/* "jobs.yaml:14:5", for a message about another place. Lives as long as the list. */
const char *diagnostics_place(struct diagnostics *diagnostics, struct place place);

bool diagnostics_is_empty(const struct diagnostics *diagnostics);

/* Into the order of their places. */
void diagnostics_sort(struct diagnostics *diagnostics);

/* One line each, at most DIAGNOSTICS_SHOWN, then how many more there are. With `for_people` the
 * line of the file follows, with a caret below. */
void diagnostics_print(const struct diagnostics *diagnostics, bool for_people, struct buffer *out);

void diagnostics_done(struct diagnostics *diagnostics);

#endif
