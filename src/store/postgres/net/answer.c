/*
 * answer.c - reads PostgreSQL's binary form.
 */
#include "store/postgres/net/answer.h"

#include <string.h>

struct answer answer_of(PGresult *result)
{
    return (struct answer){.result = result};
}

void answer_done(struct answer *answer)
{
    PQclear(answer->result);
    *answer = (struct answer){0};
}

bool answer_next(struct answer *answer)
{
    answer->column = 0;
    return ++answer->row <= PQntuples(answer->result);
}

bool answer_is_null(const struct answer *answer)
{
    return PQgetisnull(answer->result, answer->row - 1, answer->column) == 1;
}

const char *answer_raw(const struct answer *answer)
{
    return PQgetvalue(answer->result, answer->row - 1, answer->column);
}

int answer_length(const struct answer *answer)
{
    return PQgetlength(answer->result, answer->row - 1, answer->column);
}

void answer_skip(struct answer *answer)
{
    answer->column++;
}

int64_t answer_int(struct answer *answer)
{
    const unsigned char *bytes = (const unsigned char *)answer_raw(answer);
    int length = answer_is_null(answer) ? 0 : answer_length(answer);
    uint64_t value = length > 0 && (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (int i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    answer->column++;
    return (int64_t)value;
}

int answer_int_or(struct answer *answer, int absent)
{
    bool null = answer_is_null(answer);
    int value = (int)answer_int(answer);

    return null ? absent : value;
}

const char *answer_text(struct answer *answer, struct arena *arena)
{
    const char *text = NULL;

    if (!answer_is_null(answer))
        text = arena_text_of(arena, answer_raw(answer), (size_t)answer_length(answer));
    answer->column++;
    return text;
}

struct bytes answer_bytes(struct answer *answer, struct arena *arena)
{
    struct bytes bytes = {0};

    if (!answer_is_null(answer)) {
        bytes.data = (const unsigned char *)answer_raw(answer);
        bytes.length = (size_t)answer_length(answer);
    }
    answer->column++;
    return arena_bytes(arena, bytes);
}

static void copy_exactly(struct answer *answer, unsigned char *into, size_t size)
{
    if (!answer_is_null(answer) && (size_t)answer_length(answer) == size)
        memcpy(into, answer_raw(answer), size);
    answer->column++;
}

struct uuid answer_uuid(struct answer *answer)
{
    struct uuid id = {{0}};

    copy_exactly(answer, id.bytes, sizeof(id.bytes));
    return id;
}

struct lease_token answer_token(struct answer *answer)
{
    struct lease_token token = {{0}};

    copy_exactly(answer, token.bytes, sizeof(token.bytes));
    return token;
}
