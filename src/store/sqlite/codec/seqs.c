/*
 * seqs.c - a list of seqs as JSON.
 */
#include "store/sqlite/codec/seqs.h"

#include <stdlib.h>

#define SEQ_SIZE 20 /* 19 digits, and what stands before them */

static char *write_one(char *at, int64_t seq)
{
    char digits[SEQ_SIZE];
    size_t count = 0;

    if (seq == 0) {
        for (const char *word = "null"; *word != '\0'; word++)
            *at++ = *word;
        return at;
    }
    for (; seq > 0; seq /= 10)
        digits[count++] = (char)('0' + seq % 10);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

char *sqlite_seqs_write(const int64_t *seqs, size_t count)
{
    char *text = malloc(count * SEQ_SIZE + sizeof("[]"));

    if (!text)
        return NULL;
    char *at = text;
    *at++ = '[';
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            *at++ = ',';
        at = write_one(at, seqs[i]);
    }
    *at++ = ']';
    *at = '\0';
    return text;
}

size_t sqlite_seqs_count(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

static const char *read_one(const char *at, int64_t *seq_out)
{
    const char *start = at;
    uint64_t seq = 0;

    for (; *at >= '0' && *at <= '9'; at++)
        seq = seq * 10 + (uint64_t)(*at - '0');
    *seq_out = at - start < SEQ_SIZE && seq <= INT64_MAX ? (int64_t)seq : 0;
    return at;
}

void sqlite_seqs_read(const char *text, int64_t *seqs_out, size_t count)
{
    text += *text == '[';
    for (size_t i = 0; i < count; i++) {
        text = read_one(text, &seqs_out[i]);
        while (*text != '\0' && *text++ != ',')
            ;
    }
}
