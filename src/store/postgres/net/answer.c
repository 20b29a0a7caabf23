/*
 * answer.c - reads PostgreSQL's binary form.
 */
#include "store/postgres/net/answer.h"

#include <string.h>

struct pg_answer pg_answer_of(PGresult *result)
{
    return (struct pg_answer){.result = result};
}

void pg_answer_done(struct pg_answer *answer)
{
    PQclear(answer->result);
    *answer = (struct pg_answer){0};
}

bool pg_answer_next(struct pg_answer *answer)
{
    answer->column = 0;
    return ++answer->row <= PQntuples(answer->result);
}

bool pg_answer_is_null(const struct pg_answer *answer)
{
    return PQgetisnull(answer->result, answer->row - 1, answer->column) == 1;
}

const char *pg_answer_raw(const struct pg_answer *answer)
{
    return PQgetvalue(answer->result, answer->row - 1, answer->column);
}

int pg_answer_length(const struct pg_answer *answer)
{
    return PQgetlength(answer->result, answer->row - 1, answer->column);
}

void pg_answer_skip(struct pg_answer *answer)
{
    answer->column++;
}

int64_t pg_answer_int(struct pg_answer *answer)
{
    const unsigned char *bytes = (const unsigned char *)pg_answer_raw(answer);
    int length = pg_answer_is_null(answer) ? 0 : pg_answer_length(answer);
    uint64_t value = length > 0 && (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (int i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    answer->column++;
    return (int64_t)value;
}

int pg_answer_int_or(struct pg_answer *answer, int absent)
{
    bool null = pg_answer_is_null(answer);
    int value = (int)pg_answer_int(answer);

    return null ? absent : value;
}

const char *pg_answer_text(struct pg_answer *answer, struct arena *arena)
{
    const char *text = NULL;

    if (!pg_answer_is_null(answer))
        text = arena_text_of(arena, pg_answer_raw(answer), (size_t)pg_answer_length(answer));
    answer->column++;
    return text;
}

struct bytes pg_answer_bytes(struct pg_answer *answer, struct arena *arena)
{
    struct bytes bytes = {0};

    if (!pg_answer_is_null(answer)) {
        bytes.data = (const unsigned char *)pg_answer_raw(answer);
        bytes.length = (size_t)pg_answer_length(answer);
    }
    answer->column++;
    return arena_bytes(arena, bytes);
}

static void copy_exactly(struct pg_answer *answer, unsigned char *into, size_t size)
{
    if (!pg_answer_is_null(answer) && (size_t)pg_answer_length(answer) == size)
        memcpy(into, pg_answer_raw(answer), size);
    answer->column++;
}

struct uuid pg_answer_uuid(struct pg_answer *answer)
{
    struct uuid id = {{0}};

    copy_exactly(answer, id.bytes, sizeof id.bytes);
    return id;
}

struct lease_token pg_answer_token(struct pg_answer *answer)
{
    struct lease_token token = {{0}};

    copy_exactly(answer, token.bytes, sizeof token.bytes);
    return token;
}
