/*
 * options.h - options of a command line, read by tables.
 *
 * A row says how an option is written, what its value may be and what help says about it. Values
 * come back in an array with the index of their row.
 *
 *     --name VALUE   --name=VALUE   --flag   -l VALUE   -lVALUE   -ab
 *     --name[=VALUE] -l             where the value may be left out
 *
 * "--" ends the options, "-" alone is an argument, and options may come between arguments. A value
 * given twice is refused, unless its row says that there may be several: nobody can tell which one
 * was meant. A flag given twice is a flag.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/base.h"
#include "base/uuid.h"

struct buffer;
struct error;

#define OPTIONS_SEVERAL_MAX 32 /* values of one option */

enum option_kind {
    OPTION_FLAG,     /* takes no value */
    OPTION_TEXT,     /* anything */
    OPTION_NAME,     /* of a type or a queue */
    OPTION_NUMBER,   /* from min to max */
    OPTION_DURATION, /* 30s; from min to max microseconds */
    OPTION_CHOICE,   /* one of choices */
    OPTION_ID,       /* of a job */
};

struct option {
    const char *name;  /* without its dashes; NULL ends the table */
    char letter;       /* the short form, or 0 */
    const char *value; /* what help calls the value; NULL for a flag */
    const char *help;
    enum option_kind kind;
    int64_t min, max;
    const char *const *choices; /* ended by NULL */
    bool is_optional;           /* the value may be left out, and is only given after "=" */
    bool is_several;            /* it may be given more than once */
};

struct option_value {
    bool given;
    const char *text; /* as written; NULL for a flag, and where an optional value was left out */
    int64_t number;   /* the number, the microseconds, or the index of the choice */
    struct uuid id;
    const char *all[OPTIONS_SEVERAL_MAX]; /* as written, where there may be several; */
    size_t count;                         /* the rest is of the last one */
};

/* The table of a command without options. */
extern const struct option options_none[];

/* "false" and "true" for OPTION_CHOICE: the number is the truth. */
extern const char *const options_booleans[];

/* A table and where its values go: as many as it has rows, zeroed by the caller. */
struct option_set {
    const struct option *table;
    struct option_value *values;
};

struct words {
    const char **items;
    size_t count;
};

enum options_scope {
    OPTIONS_LEADING, /* stop at the first argument */
    OPTIONS_ALL,
};

/* Takes the options out of `words` and leaves the arguments, in order. The error is a sentence,
 * with the closest option of the tables when one is unknown. Texts point into the words. */
bool options_parse(const struct option_set *sets, size_t set_count, enum options_scope scope,
                   struct words *words, struct error *err) MUST_CHECK;

size_t options_count(const struct option *table);

/* One line per row: "  -q, --quiet           print no ids". */
void options_add_help(struct buffer *out, const struct option *table);

#endif
