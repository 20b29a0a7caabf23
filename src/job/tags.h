/*
 * tags.h - the names that a job is listed by, besides its own.
 *
 * A store keeps them as one text, with a space between each: no name has one.
 */
#ifndef JOB_TAGS_H
#define JOB_TAGS_H

#include "base/base.h"

struct arena;

#define TAGS_MAX       8
#define TAGS_TEXT_SIZE ((size_t)TAGS_MAX * 129) /* of names of JOB_NAME_MAX, and what ends each */

/* Names, each once: job_validate() sees to it. */
struct tags {
    const char *const *names;
    size_t count;
};

bool tags_have(struct tags tags, const char *name);

/* Of tags that were validated; NULL when there are none. */
const char *tags_format(struct tags tags, char text[TAGS_TEXT_SIZE]);

/* What tags_format() made of them. NULL is none, and what cannot be a tag is left out. They live in
 * the arena, which says whether there was memory. */
struct tags tags_parse(const char *text, struct arena *arena);

/* The same names in this arena. */
struct tags tags_copy(struct tags tags, struct arena *arena);

#endif
