/*
 * fuzz_fields.c - the body and the query of a request, read by a table with a field of each kind.
 *
 * What is wrong is told with its place; what was taken is within its limits.
 */
#include "api/fields.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "fuzz.h"
#include "http/query.h"
#include "job/job.h"

#include <assert.h>

#define NOW ((usec_t)1900000000000000)

struct inside {
    int64_t number;
};

struct wish {
    const char *text, *name;
    struct uuid id;
    int64_t number;
    bool flag;
    usec_t duration, moment;
    int word;
    struct value_texts names;
    struct value_ids ids;
    struct bytes json;
    struct inside object;
};

static const char *const words[] = {"one", "two", NULL};

static const struct value_field inside_fields[] = {
    VALUE_NUMBER(inside, number, .min = -5, .max = 5),
    {.name = NULL},
};

static const struct value_field fields[] = {
    VALUE_TEXT(wish, text, .max = 20),
    VALUE_NAME(wish, name, .max = 30),
    VALUE_ID(wish, id, .help = "of a job"),
    VALUE_NUMBER(wish, number, .min = 1, .max = 100),
    VALUE_FLAG(wish, flag, .help = "yes or no"),
    VALUE_DURATION(wish, duration, .min = 0, .max = USEC_PER_DAY),
    VALUE_MOMENT(wish, moment, .help = "when"),
    VALUE_WORD(wish, word, .words = words),
    VALUE_NAMES(wish, names, .min = 1, .max = 3),
    VALUE_IDS(wish, ids, .min = 0, .max = 2),
    VALUE_JSON(wish, json, .max = 100),
    VALUE_OBJECT(wish, object, inside, .fields = inside_fields),
    {.name = NULL},
};

static void check(const struct wish *wish, const struct problems *problems)
{
    struct error err;

    for (size_t i = 0; i < problems->count; i++)
        assert(problems->places[i].field && problems->places[i].message[0] != '\0');
    assert(!wish->text || strlen(wish->text) <= 20);
    assert(!wish->name || job_name_check(wish->name, 30, &err));
    assert(wish->number >= 0 && wish->number <= 100);
    assert(wish->duration >= 0 && wish->duration <= USEC_PER_DAY);
    assert(wish->word == 0 || wish->word == 1);
    assert(wish->names.count <= 3 && wish->ids.count <= 2);
    assert(!wish->json.data || json_check(wish->json, &err));
    assert(wish->object.number >= -5 && wish->object.number <= 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    AUTO_FREE char *text = fuzz_text(data, size);
    struct problems problems = {.arena = &arena}, others = {.arena = &arena};
    struct wish body = {0}, parameters = {0};
    struct http_query query = {0};
    struct error err;

    fields_read_body(fields, (struct bytes){data, size}, NOW, &body, &problems);
    check(&body, &problems);
    if (!http_query_parse(text, &arena, &query, &err))
        return 0;
    fields_read_query(fields, &query, NOW, &parameters, &others);
    check(&parameters, &others);
    return 0;
}
