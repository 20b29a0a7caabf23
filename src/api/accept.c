/*
 * accept.c - what a client would like to have, as its Accept header says (RFC 9110, 12.5.1).
 */
#include "api/accept.h"

#include <string.h>
#include <strings.h>

#define SPACE     " \t"
#define THOUSANDS 1000

/* How a range of types names a type. */
enum fit {
    FIT_NOT,
    FIT_ANY,   /* any type at all */
    FIT_GROUP, /* any text */
    FIT_EXACT,
};

struct taste {
    enum fit fit;
    int q; /* in thousandths */
};

/* A part of the header, without the space around it. */
struct part {
    const char *text;
    size_t length;
};

static struct part trim(const char *text, size_t length)
{
    while (length > 0 && strchr(SPACE, text[0])) {
        text++;
        length--;
    }
    while (length > 0 && strchr(SPACE, text[length - 1]))
        length--;
    return (struct part){text, length};
}

static bool is_word(struct part part, const char *word, size_t length)
{
    return part.length == length && strncasecmp(part.text, word, length) == 0;
}

static enum fit fit_of(struct part range, const char *type)
{
    const size_t group = strcspn(type, "/") + 1;

    if (is_word(range, type, strlen(type)))
        return FIT_EXACT;
    if (range.length == group + 1 && range.text[group] == '*' &&
        strncasecmp(range.text, type, group) == 0)
        return FIT_GROUP;
    return is_word(range, "*/*", 3) ? FIT_ANY : FIT_NOT;
}

/* "0.85" is 850. What is no number from 0 to 1 counts as if nothing was said. */
static int read_q(struct part text)
{
    int q = 0, weight = THOUSANDS;

    if (text.length == 0 || (text.text[0] != '0' && text.text[0] != '1'))
        return THOUSANDS;
    for (size_t i = 0; i < text.length; i++) {
        if (i == 1 && text.text[i] == '.')
            continue;
        if (text.text[i] < '0' || text.text[i] > '9' || i == 1)
            return THOUSANDS;
        q += weight * (text.text[i] - '0');
        weight /= 10;
    }
    return q < THOUSANDS ? q : THOUSANDS;
}

/* Of ";level=1;q=0.5". */
static int find_q(const char *text, size_t length)
{
    while (length > 0) {
        const char *end = memchr(text + 1, ';', length - 1);
        const size_t taken = end ? (size_t)(end - text) : length;
        const struct part parameter = trim(text + 1, taken - 1);

        if (parameter.length > 1 && strncasecmp(parameter.text, "q=", 2) == 0)
            return read_q((struct part){parameter.text + 2, parameter.length - 2});
        text += taken;
        length -= taken;
    }
    return THOUSANDS;
}

/* What the range that names the type most exactly says of it. */
static struct taste taste_of(const char *header, const char *type)
{
    struct taste best = {FIT_NOT, 0};

    while (*header != '\0') {
        const size_t length = strcspn(header, ",");
        const size_t name = strcspn(header, ",;");
        const enum fit fit = fit_of(trim(header, name), type);

        if (fit > best.fit)
            best = (struct taste){fit, find_q(header + name, length - name)};
        header += length + (header[length] == ',');
    }
    return best;
}

size_t accept_choose(const char *header, const char *const *types, size_t count)
{
    struct taste best = {FIT_NOT, 0};
    size_t chosen = 0;

    for (size_t i = 0; header && i < count; i++) {
        const struct taste taste = taste_of(header, types[i]);

        if (taste.q > best.q || (taste.q == best.q && taste.q > 0 && taste.fit > best.fit)) {
            best = taste;
            chosen = i;
        }
    }
    return chosen;
}
