/*
 * text.c - small questions about text.
 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A longer word is not a misspelling of one of ours. */
#define WORD_MAX 128

#define SPACES " \t\n\v\f\r"

bool text_equal(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}

bool text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_is_blank(const char *text)
{
    return !text || text[strspn(text, SPACES)] == '\0';
}

bool text_is_utf8(struct bytes bytes)
{
    while (bytes.length > 0) {
        const size_t length = text_character_length(bytes);

        if (length == 0)
            return false;
        bytes.data += length;
        bytes.length -= length;
    }
    return true;
}

/* Some first bytes narrow the second, to keep out longer forms, surrogates and over U+10FFFF. */
static bool may_follow(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second < 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t text_character_length(struct bytes bytes)
{
    if (bytes.length == 0)
        return 0;

    const unsigned char first = bytes.data[0];
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;

    const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length > bytes.length || !may_follow(first, bytes.data[1]))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes.data[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

uint32_t text_code_point(struct bytes bytes)
{
    static const unsigned char marks[] = {0, 0, 0x1F, 0x0F, 0x07}; /* the first byte's own bits */
    const size_t length = text_character_length(bytes);

    if (length <= 1)
        return length == 0 ? TEXT_NO_CHARACTER : bytes.data[0];
    uint32_t code = bytes.data[0] & marks[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes.data[i] & 0x3FU);
    return code;
}

bool text_is_deceptive(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t text_fit(const char *text, size_t most)
{
    const struct bytes bytes = {(const unsigned char *)text, strnlen(text, most)};
    size_t length = 0, next;

    do {
        next = text_character_length((struct bytes){bytes.data + length, bytes.length - length});
        length += next;
    } while (next > 0);
    return length;
}

/* How many bytes a character has that begins so; 1 where no character does. */
static size_t length_announced(unsigned char first)
{
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 1;
}

struct bytes text_whole_end(struct bytes end)
{
    for (size_t count = 1; count <= 3 && count <= end.length; count++) {
        const unsigned char c = end.data[end.length - count];

        if (length_announced(c) > count)
            return (struct bytes){end.data, end.length - count};
        if ((c & 0xc0) != 0x80)
            return end;
    }
    return end;
}

/* A character whose first byte was cut off has at most three left. */
struct bytes text_whole_start(struct bytes bytes)
{
    size_t cut = 0;

    while (cut < 3 && cut < bytes.length && (bytes.data[cut] & 0xC0) == 0x80)
        cut++;
    return (struct bytes){bytes.data + cut, bytes.length - cut};
}

static bool is_space(char c)
{
    return strchr(SPACES, c) != NULL;
}

struct bytes text_last_line(const char *text)
{
    size_t end = strlen(text);

    while (end > 0 && is_space(text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    start += strspn(text + start, SPACES);
    return (struct bytes){(const unsigned char *)text + start, end > start ? end - start : 0};
}

bool text_to_int(const char *text, int64_t min, int64_t max, int64_t *value_out)
{
    /* strtoll() would also skip space and take a plus. */
    if (!is_digit(text[text[0] == '-']))
        return false;

    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < min || value > max)
        return false;
    *value_out = value;
    return true;
}

static bool is_same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, left out, replaced or swapped with their neighbour. Works row
 * by row: row i, column j is the distance between the first i letters of a and j letters of b. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1] = {{0}};

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = above[j - 1] + !is_same_letter(a[i - 1], b[j - 1]);

            row[j] = least(replaced, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) &&
                is_same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* The candidate with the fewest mistakes, of those with few enough; the first of equals. */
static const char *find_misspelt(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    size_t allowed = length / 3 > 1 ? length / 3 : 1;
    const char *closest = NULL;

    for (size_t i = 0; i < count; i++) {
        const size_t candidate_length = strlen(candidates[i]);

        if (length > WORD_MAX || candidate_length > WORD_MAX)
            continue;
        const size_t mistakes = distance(word, length, candidates[i], candidate_length);
        if (mistakes < allowed || (mistakes == allowed && !closest)) {
            closest = candidates[i];
            allowed = mistakes;
        }
    }
    return closest;
}

/* The only candidate that the word starts, or that starts the word. */
static const char *find_begun(const char *word, const char *const *candidates, size_t count)
{
    const char *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (strncasecmp(word, candidates[i], least(strlen(word), strlen(candidates[i]))) != 0)
            continue;
        if (found)
            return NULL;
        found = candidates[i];
    }
    return found;
}

const char *text_closest(const char *word, const char *const *candidates, size_t count)
{
    if (text_is_blank(word))
        return NULL;

    const char *misspelt = find_misspelt(word, candidates, count);
    return misspelt ? misspelt : find_begun(word, candidates, count);
}
