/*
 * offers.c - what producers may say: a table of it, and as much more as anybody has time for.
 */
#include "doors.h"

#include <stdio.h>
#include <string.h>

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }
#define JSON(...) .type = "t", .payload = TEXT(__VA_ARGS__)
#define RAW(...)  .type = "t", .encoding = "raw", .payload = TEXT(__VA_ARGS__)
#define TEN(x)    x x x x x x x x x x
#define N128      TEN("nnnnnnnnnn") "nnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define N256      N128 N128
#define DEEP_64   TEN("[[[[[[") "[[[["
#define UP_64     TEN("]]]]]]") "]]]]"
#define UUID      "0193f0a2-7c1d-7abc-8def-0123456789ab"

/* clang-format off */
const struct offer offers[] = {
    {"the least", .type = "t"},
    {"no type", .type = NULL},
    {"a blank type", .type = " "},
    {"an odd type", .type = "a b\n\xc3\xa9 and much more that nobody wants to read in a message"},
    {"every character of a name", .type = "azAZ09_.:-"},
    {"the longest type", .type = N128},
    {"a longer type", .type = N128 "n"},
    {"an empty queue", .type = "t", .queue = ""},
    {"an odd queue", .type = "t", .queue = "a{b}"},
    {"a longer queue", .type = "t", .queue = N128 "n"},

    {"an object", JSON("{\"to\": \"a@b.c\", \"n\": [1, 2.5e-3, true, false, null]}")},
    {"space around it", JSON(" \t\r\n[ 1 , 2 ] \n")},
    {"nothing", JSON("")},
    {"only space", JSON(" ")},
    {"two values", JSON("1,2")},
    {"two values in space", JSON("1 2")},
    {"not a number", JSON("NaN")},
    {"more than a number", JSON("-Infinity")},
    {"a hexadecimal number", JSON("0x10")},
    {"a number that starts with 0", JSON("01")},
    {"minus 0", JSON("-0")},
    {"minus", JSON("-")},
    {"plus", JSON("+1")},
    {"a dot at the end", JSON("1.")},
    {"a dot before", JSON(".5")},
    {"an exponent", JSON("1E+400")},
    {"half an exponent", JSON("1e")},
    {"forty digits", JSON("1234567890123456789012345678901234567890")},
    {"a word", JSON("True")},
    {"a longer word", JSON("nulls")},
    {"single quotes", JSON("'a'")},
    {"a comment", JSON("/* a */ 1")},
    {"a byte order mark", JSON("\xef\xbb\xbf" "1")},
    {"a form feed", JSON("\f1")},
    {"a NUL", JSON("1\0")},
    {"a NUL in a string", JSON("\"a\0b\"")},
    {"an escaped NUL", JSON("\"\\u0000\"")},
    {"every escape", JSON("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\"")},
    {"an unknown escape", JSON("\"\\x41\"")},
    {"half an escape", JSON("\"\\u12\"")},
    {"backslashes", JSON("\"\\\\\\\\\\\\\"")},
    {"an escape outside of strings", JSON("{}\\\"")},
    {"and one more", JSON("\\u0020" "1")},
    {"a backslash at the end", JSON("\"\\\\\\\"")},
    {"a newline in a string", JSON("\"a\nb\"")},
    {"a tab in a string", JSON("\"a\tb\"")},
    {"DEL in a string", JSON("\"\x7f\"")},
    {"no end of a string", JSON("\"a")},
    {"a surrogate pair", JSON("\"\\ud83d\\uDE00\"")},
    {"the first half of one", JSON("\"\\ud800\"")},
    {"the second half of one", JSON("\"\\udc00\"")},
    {"two first halves", JSON("\"\\ud83d\\ud83d\\ude00\"")},
    {"a half that is none", JSON("\"\\\\ud800\"")},
    {"a half after a backslash", JSON("\"\\\\\\ud800\"")},
    {"a half in a name", JSON("{\"\\ud800\": 1}")},
    {"UTF-8 of two, three and four", JSON("\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"")},
    {"no UTF-8", JSON("\"\xff\"")},
    {"overlong UTF-8", JSON("\"\xc0\x80\"")},
    {"a surrogate in UTF-8", JSON("\"\xed\xa0\x80\"")},
    {"above U+10FFFF", JSON("\"\xf4\x90\x80\x80\"")},
    {"cut UTF-8", JSON("\"\xe2\x82\"")},
    {"UTF-8 outside of strings", JSON("\xc3\xa9")},
    {"128 levels", JSON(DEEP_64 DEEP_64 UP_64 UP_64)},
    {"129 levels", JSON("[" DEEP_64 DEEP_64 UP_64 UP_64 "]")},
    {"129 brackets in a string", JSON("\"[" DEEP_64 DEEP_64 "\"")},
    {"many brackets side by side", JSON("[" TEN(TEN("[],[],[],")) "[]]")},
    {"a comma too many", JSON("[1,]")},
    {"a comma too early", JSON("[,1]")},
    {"no comma", JSON("[[][]]")},
    {"no name", JSON("{1: 2}")},
    {"no value", JSON("{\"a\":}")},
    {"no colon", JSON("{\"a\" 1}")},
    {"a name in an array", JSON("[\"a\": 1]")},
    {"a value in an object", JSON("{\"a\": [], 1}")},
    {"two colons", JSON("{\"a\": \"b\": 1}")},
    {"a name twice", JSON("{\"a\": 1, \"a\": 2}")},
    {"the wrong bracket", JSON("[1}")},
    {"no bracket", JSON("[1")},

    {"any bytes", RAW("\0\xff\"")},
    {"no bytes", RAW("")},
    {"another encoding", .type = "t", .encoding = "yaml"},

    {"the first priority", .type = "t", .priority = "0"},
    {"the last priority", .type = "t", .priority = "9"},
    {"no priority", .type = "t", .priority = "10"},
    {"a negative priority", .type = "t", .priority = "-1"},
    {"half a priority", .type = "t", .priority = "1.5"},
    {"a word for a priority", .type = "t", .priority = "high"},

    {"now", .type = "t", .run_at = "0"},
    {"a time", .type = "t", .run_at = "1893553445123456"},
    {"the year 2000", .type = "t", .run_at = "946684800000000"},
    {"before that", .type = "t", .run_at = "946684799999999"},
    {"milliseconds", .type = "t", .run_at = "1893553445123"},
    {"seconds", .type = "t", .run_at = "1893553445"},
    {"the last microsecond", .type = "t", .run_at = "253402300799999999"},
    {"one more", .type = "t", .run_at = "253402300800000000"},
    {"before 1970", .type = "t", .run_at = "-1"},
    {"more than 64 bits", .type = "t", .run_at = "99999999999999999999"},

    {"a year", .type = "t", .timeout = "31536000000000"},
    {"more than a year", .type = "t", .timeout = "31536000000001"},
    {"less than nothing", .type = "t", .timeout = "-1"},
    {"as many attempts as there may be", .type = "t", .max_attempts = "1000000"},
    {"one more attempt", .type = "t", .max_attempts = "1000001"},
    {"as many stalls", .type = "t", .max_stalls = "1000000"},
    {"one more stall", .type = "t", .max_stalls = "1000001"},
    {"fewer than none", .type = "t", .max_stalls = "-1"},

    {"a key", .type = "t", .key = "order 17 \xc3\xa9"},
    {"no key", .type = "t", .key = ""},
    {"a blank key", .type = "t", .key = " \t\n\v\f\r"},
    {"the longest key", .type = "t", .key = N256},
    {"a longer key", .type = "t", .key = N256 "k"},
    {"a key that is no UTF-8", .type = "t", .key = "\xff"},
    {"an idempotency key", .type = "t", .idempotency_key = "once"},
    {"a blank one is none", .type = "t", .idempotency_key = " \t"},
    {"an empty one is none", .type = "t", .idempotency_key = ""},
    {"the longest of them", .type = "t", .idempotency_key = N256},
    {"a longer one", .type = "t", .idempotency_key = N256 "k"},
    {"one that is no UTF-8", .type = "t", .idempotency_key = "a\xc3"},

    {"every flag", .type = "t", .key = "flags 1", .update_payload = "false", .update_run_at = "if_earlier",
     .update_retry = "false", .reset_counts = "true"},
    {"the others", .type = "t", .key = "flags 2", .update_payload = "true", .update_run_at = "if_later",
     .update_retry = "true", .reset_counts = "false"},
    {"never", .type = "t", .key = "flags 3", .update_run_at = "never"},
    {"an unknown flag", .type = "t", .key = "flags 4", .update_run_at = "sometimes"},
    {"yes is no flag", .type = "t", .key = "flags 5", .update_payload = "yes", .is_typed_in_sql = true},
    {"nor is 1", .type = "t", .key = "flags 6", .update_retry = "1", .is_typed_in_sql = true},
    {"nor is TRUE", .type = "t", .key = "flags 7", .reset_counts = "TRUE", .is_typed_in_sql = true},
    {"nor nothing", .type = "t", .key = "flags 8", .reset_counts = ""},

    {"headers", .type = "t", .headers = "{\"a\": [1, {\"b\": null}], \"traceparent\": \"00-ab\"}"},
    {"no headers", .type = "t", .headers = "{}"},
    {"headers of a job with a key", .type = "t", .key = "headers", .headers = "{\"a\": 1}"},
    {"an array for headers", .type = "t", .headers = "[]"},
    {"a text for headers", .type = "t", .headers = "\"{}\""},
    {"nothing for headers", .type = "t", .headers = ""},
    {"half an object for headers", .type = "t", .headers = "{\"a\":"},
    {"headers with half a surrogate pair", .type = "t", .headers = "{\"a\": \"\\ud800\"}"},
    {"headers and any bytes", .type = "t", .encoding = "raw", .payload = TEXT("\0\xff"),
     .headers = "{\"a\": 1}", .tags = "x"},

    {"a tag", .type = "t", .tags = "mail"},
    {"as many tags as there may be", .type = "t", .tags = "1 2 3 4 5 6 7 8"},
    {"one more tag", .type = "t", .tags = "1 2 3 4 5 6 7 8 9"},
    {"the longest tag", .type = "t", .tags = "a " N128},
    {"a longer tag", .type = "t", .tags = "a " N128 "n"},
    {"an odd tag", .type = "t", .tags = "a b/c"},
    {"a tag twice", .type = "t", .tags = "a b a"},
    {"tags of a job with a key", .type = "t", .key = "tags", .tags = "a b"},

    {"an id", .type = "t", .id = UUID},
    {"nil", .type = "t", .id = "00000000-0000-0000-0000-000000000000"},
    {"no id", .type = "t", .id = "17"},
    {"an id without hyphens", .type = "t", .id = "0193f0a27c1d7abc8def0123456789ac", .is_typed_in_sql = true},
    {"hyphens elsewhere", .type = "t", .id = "0193f0a-27c1d-7abc-8def-0123456789ab"},
};
/* clang-format on */

const size_t offer_count = COUNT_OF(offers);

/* ---- out of nowhere ---- */

#define MADE_MAX 700

static uint64_t roll(uint64_t *seed, uint64_t sides)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % sides;
}

/* Pieces that texts are made of: mostly what JSON is made of, and what is nearly that. */
static const struct bytes pieces[] = {
    TEXT("{"),
    TEXT("}"),
    TEXT("["),
    TEXT("]"),
    TEXT(","),
    TEXT(":"),
    TEXT("\""),
    TEXT("\"a\""),
    TEXT("\"b\":"),
    TEXT("1"),
    TEXT("0"),
    TEXT("-"),
    TEXT("+"),
    TEXT("."),
    TEXT("e"),
    TEXT("E9"),
    TEXT("true"),
    TEXT("null"),
    TEXT("nul"),
    TEXT(" "),
    TEXT("\n"),
    TEXT("\t"),
    TEXT("\f"),
    TEXT("\\"),
    TEXT("\\\\"),
    TEXT("\\n"),
    TEXT("\\\""),
    TEXT("\\u00e9"),
    TEXT("\\ud83d"),
    TEXT("\\ude00"),
    TEXT("\\u"),
    TEXT("x"),
    TEXT("\xc3\xa9"),
    TEXT("\xf0\x9f\x98\x80"),
    TEXT("\xe2\x82"),
    TEXT("\xff"),
    TEXT("\x7f"),
    TEXT("\x80"),
    TEXT("\0"),
    TEXT("[]"),
    TEXT("{}"),
    TEXT("[1,2]"),
    TEXT("{\"c\":[3]}"),
    TEXT("[[[[[[[[[[[[[[[["),
    TEXT("]]]]]]]]]]]]]]]]"),
    TEXT("NaN"),
    TEXT("0x1"),
    TEXT("1.5e-7"),
};

static void put(struct bytes piece, unsigned char *text, size_t *length)
{
    if (*length + piece.length > MADE_MAX)
        return;
    memcpy(text + *length, piece.data, piece.length);
    *length += piece.length;
}

static void put_text(const char *piece, unsigned char *text, size_t *length)
{
    put((struct bytes){(const unsigned char *)piece, strlen(piece)}, text, length);
}

/* A value as it should be, up to some depth. */
static void put_value(uint64_t *seed, int depth, unsigned char *text, size_t *length)
{
    static const char *const scalars[] = {"1",
                                          "-0.5e+3",
                                          "true",
                                          "null",
                                          "\"\"",
                                          "\"x\"",
                                          "\"\\n\\\\\"",
                                          "\"\\ud83d\\ude00\"",
                                          "\"\xc3\xa9\"",
                                          "12"};
    const uint64_t kind = depth > 4 ? 0 : roll(seed, 4);
    const uint64_t members = roll(seed, 4);

    if (kind < 2) {
        put_text(scalars[roll(seed, COUNT_OF(scalars))], text, length);
        return;
    }
    put_text(kind == 2 ? "[" : "{", text, length);
    for (uint64_t i = 0; i < members; i++) {
        put_text(i > 0 ? ", " : "", text, length);
        put_text(kind == 2 ? "" : "\"k\" :", text, length);
        put_value(seed, depth + 1, text, length);
    }
    put_text(kind == 2 ? "]" : "}", text, length);
}

/* A few bytes of it become others. */
static void spoil(uint64_t *seed, unsigned char *text, size_t length)
{
    static const char bytes[] = "{}[],:\"\\ue0179-.+ tn\n\x01\x7f\x80\xc3\xa9\xff";
    const uint64_t times = roll(seed, 3);

    for (uint64_t i = 0; i < times && length > 0; i++)
        text[roll(seed, length)] = (unsigned char)bytes[roll(seed, sizeof bytes)];
}

static struct bytes make_payload(uint64_t *seed)
{
    static unsigned char text[MADE_MAX];
    size_t length = 0;

    if (roll(seed, 3) == 0) {
        const uint64_t count = roll(seed, 12);
        for (uint64_t i = 0; i < count; i++)
            put(pieces[roll(seed, COUNT_OF(pieces))], text, &length);
    } else {
        put_value(seed, 0, text, &length);
        spoil(seed, text, length);
    }
    return (struct bytes){text, length};
}

/* Text that may be a name or a key, long enough at times. */
static const char *make_text(uint64_t *seed, char *text, size_t most)
{
    static const char letters[] = "abcXYZ019_.:- \t{}\xc3\xa9\xff";
    const size_t length = roll(seed, 8) == 0 ? most - 3 + roll(seed, 6) : roll(seed, 12);
    const size_t kinds = roll(seed, 3) == 0 ? sizeof letters - 1 : 13;

    for (size_t i = 0; i < length; i++)
        text[i] = letters[roll(seed, kinds)];
    text[length] = '\0';
    return text;
}

static const char *make_number(uint64_t *seed, char *text, size_t size)
{
    static const char *const edges[] = {"0",
                                        "1",
                                        "5",
                                        "9",
                                        "10",
                                        "-1",
                                        "1000000",
                                        "1000001",
                                        "31536000000000",
                                        "31536000000001",
                                        "946684799999999",
                                        "946684800000000",
                                        "253402300799999999",
                                        "253402300800000000",
                                        "9223372036854775807",
                                        "99999999999999999999",
                                        "x"};

    if (roll(seed, 3) > 0)
        return edges[roll(seed, COUNT_OF(edges))];
    snprintf(text, size, "%" PRIu64, roll(seed, UINT64_C(1) << roll(seed, 60)));
    return text;
}

const struct offer *offer_make(uint64_t *seed)
{
    static char type[160], key[300], once[300], numbers[5][24];
    static struct offer offer;
    const bool plain = roll(seed, 2) == 0;

    offer = (struct offer){.rule = "made", .type = "t", .payload = make_payload(seed)};
    if (roll(seed, 8) == 0)
        offer.encoding = "raw";
    if (plain)
        return &offer;
    if (roll(seed, 3) == 0)
        offer.type = make_text(seed, type, JOB_NAME_MAX);
    if (roll(seed, 3) == 0)
        offer.key = make_text(seed, key, JOB_KEY_MAX);
    if (roll(seed, 3) == 0)
        offer.idempotency_key = make_text(seed, once, JOB_KEY_MAX);
    const char **fields[] = {&offer.priority, &offer.run_at, &offer.timeout, &offer.max_attempts,
                             &offer.max_stalls};
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (roll(seed, 4) == 0)
            *fields[i] = make_number(seed, numbers[i], sizeof numbers[i]);
    return &offer;
}
