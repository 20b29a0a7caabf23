/*
 * tags.c - the names that a job is listed by, besides its own.
 */
#include "job/tags.h"

#include "base/arena.h"
#include "base/text.h"
#include "job/job.h"

#include <assert.h>
#include <string.h>

static_assert(TAGS_TEXT_SIZE == (size_t)TAGS_MAX * (JOB_NAME_MAX + 1),
              "a text has room for all names");

bool tags_have(struct tags tags, const char *name)
{
    for (size_t i = 0; i < tags.count; i++)
        if (text_equal(tags.names[i], name))
            return true;
    return false;
}

const char *tags_format(struct tags tags, char text[TAGS_TEXT_SIZE])
{
    char *at = text;

    assert(tags.count <= TAGS_MAX);
    for (size_t i = 0; i < tags.count; i++) {
        const size_t length = strlen(tags.names[i]);

        assert(length <= JOB_NAME_MAX);
        memcpy(at, tags.names[i], length);
        at += length;
        *at++ = i + 1 < tags.count ? ' ' : '\0';
    }
    return tags.count > 0 ? text : NULL;
}

struct tags tags_parse(const char *text, struct arena *arena)
{
    const char **names = text ? arena_alloc(arena, TAGS_MAX * sizeof *names) : NULL;
    size_t count = 0;

    while (names && *text != '\0' && count < TAGS_MAX) {
        const size_t length = strcspn(text, " ");
        const char *name = arena_text_of(arena, text, length);

        if (name && job_name_is_valid(name))
            names[count++] = name;
        text += length + (text[length] == ' ');
    }
    return (struct tags){names, count};
}

struct tags tags_copy(struct tags tags, struct arena *arena)
{
    const char **names = tags.count > 0 ? arena_alloc(arena, tags.count * sizeof *names) : NULL;

    for (size_t i = 0; names && i < tags.count; i++)
        names[i] = arena_text(arena, tags.names[i]);
    return (struct tags){names, names ? tags.count : 0};
}
