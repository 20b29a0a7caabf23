/*
 * schema_pattern.c - regular expressions by PCRE2, with bounded work.
 *
 * PCRE2's own limits are per place in the text at which a match may begin, and a long text has
 * many. So every pattern is compiled with a callout before each of its items, and the callout
 * counts what that item may cost:
 *
 *   - one step, as every item;
 *   - how far the match moved since the last callout: x* runs over a whole text as one item;
 *   - as much as the largest repeat count of the pattern: x{60000} may run that far and then fail,
 *     which nobody sees;
 *   - for patterns with back references the length of the text: to compare is one item, too.
 *
 * The count depends on pattern and text alone, so a payload fits or not on any machine and at any
 * load.
 */
#include "worker/schema_pattern.h"

#include "base/arena.h"
#include "base/error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MATCH_LIMIT   10000000 /* places to come back to, per beginning */
#define DEPTH_LIMIT   1000000
#define HEAP_LIMIT    (32 * 1024) /* KiB */
#define RUN_PER_STEP  16          /* bytes that an item runs over in the time of a step */
#define COPY_PER_STEP 256         /* bytes that are compared in it */

/* The end of a text is $, not also the newline before it; an empty class matches nothing, a group
 * that was not taken is empty, \uXXXX is a character. \C would see halves of characters. */
#define OPTIONS                                                                                    \
    (PCRE2_UTF | PCRE2_AUTO_CALLOUT | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |             \
     PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALT_BSUX | PCRE2_NEVER_BACKSLASH_C)

struct schema_pattern {
    const pcre2_code *code;
    uint32_t largest_repeat;
    bool has_back_references;
};

/* One search. */
struct search {
    int64_t *steps;
    int64_t per_item;
    size_t last_position;
};

static void *alloc_in_arena(size_t size, void *arena)
{
    return arena_alloc(arena, size);
}

static void leave_in_arena(void *memory, void *arena)
{
    (void)memory; /* it goes with the arena */
    (void)arena;
}

/* The largest number after a brace: at least the largest repeat count. */
static uint32_t largest_repeat(struct bytes text)
{
    uint32_t largest = 0, number = 0;
    bool in_braces = false;

    for (size_t i = 0; i < text.length; i++) {
        const unsigned char c = text.data[i];
        const bool is_digit = c >= '0' && c <= '9';

        if (c == '{')
            in_braces = true;
        else if (c != ',' && c != ' ' && !is_digit)
            in_braces = false;
        number = in_braces && is_digit && number <= UINT16_MAX ? number * 10 + (c - '0') : 0;
        if (number > largest)
            largest = number;
    }
    return largest < UINT16_MAX ? largest : UINT16_MAX;
}

static bool refuse_pattern(int code, size_t offset, struct error *err)
{
    PCRE2_UCHAR message[256];

    if (pcre2_get_error_message(code, message, sizeof message) < 0)
        message[0] = '\0';
    return error_set(err, TH_E_INVALID, "at byte %zu of the pattern: %s", offset + 1,
                     (const char *)message);
}

static const pcre2_code *compile(struct bytes text, struct arena *arena, struct error *err)
{
    pcre2_general_context *general =
        pcre2_general_context_create(alloc_in_arena, leave_in_arena, arena);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    size_t offset = 0;
    int code = 0;

    if (!context || pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF)) {
        error_no_memory(err);
        return NULL;
    }
    const pcre2_code *compiled =
        pcre2_compile(text.data, text.length, OPTIONS, &code, &offset, context);
    if (!compiled && arena->failed)
        error_no_memory(err);
    else if (!compiled)
        refuse_pattern(code, offset, err);
    return compiled;
}

bool schema_pattern_compile(struct bytes text, struct arena *arena,
                            const struct schema_pattern **pattern_out, struct error *err)
{
    struct schema_pattern *pattern = arena_alloc(arena, sizeof *pattern);
    uint32_t back_references = 0;

    if (!pattern)
        return error_no_memory(err);
    pattern->code = compile(text, arena, err);
    if (!pattern->code)
        return false;
    if (pcre2_pattern_info(pattern->code, PCRE2_INFO_BACKREFMAX, &back_references))
        return error_set(err, TH_E_INTERNAL, "a pattern of no known kind");
    pattern->has_back_references = back_references > 0;
    pattern->largest_repeat = largest_repeat(text);
    *pattern_out = pattern;
    return true;
}

static int count_item(pcre2_callout_block *block, void *context)
{
    struct search *search = context;
    const size_t at = block->current_position;
    const size_t moved =
        at > search->last_position ? at - search->last_position : search->last_position - at;

    search->last_position = at;
    *search->steps -= search->per_item + (int64_t)(moved / RUN_PER_STEP);
    return *search->steps < 0 ? PCRE2_ERROR_CALLOUT : 0;
}

static int64_t cost_of_item(const struct schema_pattern *pattern, size_t length)
{
    const size_t repeat = pattern->largest_repeat;

    if (pattern->has_back_references)
        return (int64_t)(1 + repeat / RUN_PER_STEP + length / COPY_PER_STEP);
    return (int64_t)(1 + (repeat < length ? repeat : length) / RUN_PER_STEP);
}

static enum schema_match meaning_of(int code)
{
    if (code >= 0)
        return MATCH_FOUND;
    if (code == PCRE2_ERROR_NOMATCH)
        return MATCH_NONE;
    return code == PCRE2_ERROR_NOMEMORY ? MATCH_NO_MEMORY : MATCH_GIVEN_UP;
}

static int match(const struct schema_pattern *pattern, struct bytes text, struct search *search,
                 pcre2_match_context *context, pcre2_match_data *data)
{
    if (!context || !data)
        return PCRE2_ERROR_NOMEMORY;
    pcre2_set_callout(context, count_item, search);
    pcre2_set_match_limit(context, MATCH_LIMIT);
    pcre2_set_depth_limit(context, DEPTH_LIMIT);
    pcre2_set_heap_limit(context, HEAP_LIMIT);
    return pcre2_match(pattern->code, text.data, text.length, 0, PCRE2_NO_UTF_CHECK, data, context);
}

enum schema_match schema_pattern_find(const struct schema_pattern *pattern, struct bytes text,
                                      int64_t *steps)
{
    struct search search = {.steps = steps, .per_item = cost_of_item(pattern, text.length)};
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    const int code = match(pattern, text, &search, context, data);

    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    return meaning_of(code);
}
