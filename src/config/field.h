/*
 * field.h - a table of keys fills a struct.
 *
 * A key is defined once, in the table of its section. The loader, the defaults, the range check,
 * "did you mean", `thctl init --all`, conf/jobs.yaml and the test of the manual page read its row.
 * A row whose kind does not fit the member's type does not compile.
 */
#ifndef CONFIG_FIELD_H
#define CONFIG_FIELD_H

#include "base/base.h"
#include "base/units.h"
#include "config/yaml_tree.h"
#include "job/retry.h"

enum field_kind {
    FIELD_COUNT,    /* a whole number */
    FIELD_FRACTION, /* 0 to 1 */
    FIELD_MODE,     /* permissions in octal: 022 */
    FIELD_DURATION, /* 30s */
    FIELD_SIZE,     /* 512M */
    FIELD_RATE,     /* 100/s */
    FIELD_TEXT,
    FIELD_NAME,    /* of a type, a queue or a pool */
    FIELD_PATH,    /* made absolute: relative ones start at the folder of the file */
    FIELD_FLAG,    /* true or false */
    FIELD_CHOICE,  /* one of the row's names; the member is the index */
    FIELD_TEXTS,   /* a list */
    FIELD_PATHS,   /* a list */
    FIELD_NUMBERS, /* a list of whole numbers */
    FIELD_PAIRS,   /* a map of text, for an environment */
    FIELD_COMMAND, /* a list is argv, a text is run by /bin/sh */
    FIELD_JSON,    /* anything, as the JSON that says the same */
    FIELD_POLICY,  /* of a struct retry_policy: a name or a list of delays */
    FIELD_SECTION, /* a map with a table of its own */
    FIELD_ENTRIES, /* a map of names, each with such a map; filled by config.c */
};

/* A key without a default may be left out; its member is then 0, NULL or empty. */
#define FIELD_UNSET ""

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;              /* of the member in the section's struct */
    const char *fallback;       /* the default, as a user would write it; NULL: required */
    const char *min, *max;      /* as a user would write them; of a text: its length */
    const char *const *choices; /* ended by NULL */
    const struct field *fields; /* of a section or entry; ended by a row without key */
    const char *help;
    const char *example; /* what the reference shows of a key that is unset; an entry's name */
    bool optional;       /* of a section: that it is there means something; no default has it */
    bool inherits;       /* of a section: what is left out stays as the caller has set it */
};

struct text_list {
    const char *const *items;
    size_t count;
};

struct number_list {
    const int *items;
    size_t count;
};

struct text_pair {
    const char *name, *value;
};

struct text_pairs {
    const struct text_pair *items;
    size_t count;
};

/* What to start. */
struct command_line {
    const char *const *argv; /* ended by NULL; NULL: there is no command */
    size_t count;
    bool shell; /* written as one text: argv is /bin/sh -c TEXT */
};

/* Evaluated by the compiler alone: no association fits a member of another type. */
#define FIELD_ROW(field_kind, type, section, member, ...)                                          \
    {                                                                                              \
        .key = #member,                                                                            \
        .kind = _Generic(((struct section *)0)->member, type                                       \
                         : field_kind),                                                            \
        .offset = offsetof(struct section, member), __VA_ARGS__                                    \
    }

#define COUNT(section, member, ...) FIELD_ROW(FIELD_COUNT, int, section, member, __VA_ARGS__)
#define FRACTION(section, member, ...)                                                             \
    FIELD_ROW(FIELD_FRACTION, double, section, member, __VA_ARGS__)
#define MODE(section, member, ...) FIELD_ROW(FIELD_MODE, int, section, member, __VA_ARGS__)
#define DURATION(section, member, ...)                                                             \
    FIELD_ROW(FIELD_DURATION, usec_t, section, member, __VA_ARGS__)
#define SIZE(section, member, ...) FIELD_ROW(FIELD_SIZE, bytes_t, section, member, __VA_ARGS__)
#define RATE(section, member, ...)                                                                 \
    FIELD_ROW(FIELD_RATE, struct units_rate, section, member, __VA_ARGS__)
#define TEXT(section, member, ...) FIELD_ROW(FIELD_TEXT, const char *, section, member, __VA_ARGS__)
#define NAME(section, member, ...) FIELD_ROW(FIELD_NAME, const char *, section, member, __VA_ARGS__)
#define PATH(section, member, ...) FIELD_ROW(FIELD_PATH, const char *, section, member, __VA_ARGS__)
#define FLAG(section, member, ...) FIELD_ROW(FIELD_FLAG, bool, section, member, __VA_ARGS__)
#define CHOICE(section, member, type, names, ...)                                                  \
    FIELD_ROW(FIELD_CHOICE, type, section, member, .choices = (names), __VA_ARGS__)
#define TEXTS(section, member, ...)                                                                \
    FIELD_ROW(FIELD_TEXTS, struct text_list, section, member, __VA_ARGS__)
#define PATHS(section, member, ...)                                                                \
    FIELD_ROW(FIELD_PATHS, struct text_list, section, member, __VA_ARGS__)
#define NUMBERS(section, member, ...)                                                              \
    FIELD_ROW(FIELD_NUMBERS, struct number_list, section, member, __VA_ARGS__)
#define PAIRS(section, member, ...)                                                                \
    FIELD_ROW(FIELD_PAIRS, struct text_pairs, section, member, __VA_ARGS__)
#define COMMAND(section, member, ...)                                                              \
    FIELD_ROW(FIELD_COMMAND, struct command_line, section, member, __VA_ARGS__)
#define JSON(section, member, ...) FIELD_ROW(FIELD_JSON, struct bytes, section, member, __VA_ARGS__)
#define SECTION(section, member, type, table, ...)                                                 \
    FIELD_ROW(FIELD_SECTION, type, section, member, .fallback = FIELD_UNSET, .fields = (table),    \
              __VA_ARGS__)

/* Where values go and what they are called. */
struct field_scope {
    struct arena *arena; /* the values live here */
    struct diagnostics *diagnostics;
    const char *name; /* "pool", "handlers.email:send"; "" is the top */
    bool inherits;    /* what is left out stays as it is */
};

/* Fills the struct at `section` from the map: what is there is read and checked, what is missing
 * gets its default. All faults are added to the diagnostics. `map` NULL: the section was left out,
 * and nothing in it is required. */
void field_fill(const struct field_scope *scope, const struct field *fields, const struct node *map,
                void *section);

#endif
