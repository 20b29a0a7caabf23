/*
 * scalar.c - one scalar of the config as the kind of value that its key wants.
 *
 * A fault is one sentence: the key, what is wrong, what is allowed.
 */
#include "config/scalar.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "job/job.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define RANGE_TEXT_SIZE 96

bool reader_refuse(const struct reader *reader, const struct node *node, const char *reason)
{
    return diagnostics_add(reader->scope->diagnostics, node->place, "%s: %s", reader->name, reason);
}

static const char *kind_wanted(enum field_kind kind)
{
    static const char *const wanted[] = {
        [FIELD_COUNT] = "a whole number",
        [FIELD_FRACTION] = "a number from 0 to 1",
        [FIELD_MODE] = "permissions in octal such as 022",
        [FIELD_DURATION] = "a duration such as 30s",
        [FIELD_SIZE] = "a size such as 512M",
        [FIELD_RATE] = "a rate such as 100/s",
        [FIELD_TEXT] = "text",
        [FIELD_NAME] = "a name",
        [FIELD_PATH] = "a path",
        [FIELD_FLAG] = "true or false",
        [FIELD_CHOICE] = "a word",
        [FIELD_TEXTS] = "a list of texts",
        [FIELD_PATHS] = "a list of paths",
        [FIELD_NUMBERS] = "a list of whole numbers",
        [FIELD_PAIRS] = "a map of names to texts",
        [FIELD_COMMAND] = "a list such as [\"program\", \"argument\"], or text for the shell",
        [FIELD_JSON] = "any value",
        [FIELD_POLICY] = "exponential, linear, fixed or a list of delays",
        [FIELD_SECTION] = "a map",
        [FIELD_ENTRIES] = "a map",
    };

    assert((unsigned)kind < COUNT_OF(wanted));
    return wanted[kind];
}

bool reader_refuse_kind(const struct reader *reader, const struct node *node)
{
    return diagnostics_add(reader->scope->diagnostics, node->place, "%s: expected %s, not %s",
                           reader->name, kind_wanted(reader->field->kind),
                           node_is_null(node) ? "nothing" : node_kind_name(node));
}

bool reader_expect_scalar(const struct reader *reader, const struct node *node)
{
    return (node->kind == NODE_SCALAR && !node_is_null(node)) || reader_refuse_kind(reader, node);
}

/* "use 1 to 1024" */
static const char *range_text(const struct field *field, char text[RANGE_TEXT_SIZE])
{
    if (field->min && field->max)
        snprintf(text, RANGE_TEXT_SIZE, "use %s to %s", field->min, field->max);
    else
        snprintf(text, RANGE_TEXT_SIZE, "use at %s %s", field->min ? "least" : "most",
                 field->min ? field->min : field->max);
    return text;
}

/* `min` and `max` are those of the row; a bound that the row does not have is as wide as the
 * type. */
static bool check_range(const struct reader *reader, const struct node *node, int64_t value,
                        int64_t min, int64_t max)
{
    char shown[EXCERPT_SIZE], range[RANGE_TEXT_SIZE];

    if (value >= min && value <= max)
        return true;
    return diagnostics_add(reader->scope->diagnostics, node->place, "%s: %s is too %s: %s",
                           reader->name, excerpt_of(node->text, shown),
                           value < min ? "small" : "large", range_text(reader->field, range));
}

static bool refuse_text(const struct reader *reader, const struct node *node, const char *reason)
{
    char shown[EXCERPT_SIZE];

    return diagnostics_add(reader->scope->diagnostics, node->place, "%s: '%s' %s", reader->name,
                           excerpt_of(node->text, shown), reason);
}

static int64_t count_bound(const char *text, int64_t fallback)
{
    int64_t bound = fallback;
    const bool ok = !text || text_to_int(text, INT_MIN, INT_MAX, &bound);

    assert(ok);
    (void)ok;
    return bound;
}

bool scalar_count(const struct reader *reader, const struct node *node, int *count_out)
{
    int64_t count;

    if (!reader_expect_scalar(reader, node))
        return false;
    if (!text_to_int(node->text, INT64_MIN, INT64_MAX, &count))
        return refuse_text(reader, node, "is not a whole number");
    if (!check_range(reader, node, count, count_bound(reader->field->min, 0),
                     count_bound(reader->field->max, INT_MAX)))
        return false;
    *count_out = (int)count;
    return true;
}

/* 0, 1, or one of them with up to nine decimals; strtod() would also take inf, hex and commas. */
bool scalar_fraction(const struct reader *reader, const struct node *node, double *value_out)
{
    if (!reader_expect_scalar(reader, node))
        return false;
    const char *text = node->text;
    const size_t decimals = text[0] != '\0' && text[1] == '.' ? strspn(text + 2, "0123456789") : 0;
    const size_t length = decimals > 0 ? 2 + decimals : 1;

    if ((text[0] != '0' && text[0] != '1') || decimals > 9 || text[length] != '\0')
        return refuse_text(reader, node, "is not a number from 0 to 1");
    double value = text[0] - '0', digit = 1;
    for (size_t i = 2; i < length; i++) {
        digit /= 10;
        value += digit * (text[i] - '0');
    }
    if (value > 1)
        return refuse_text(reader, node, "is not a number from 0 to 1");
    *value_out = value;
    return true;
}

bool scalar_mode(const struct reader *reader, const struct node *node, int *mode_out)
{
    int mode = 0;

    if (!reader_expect_scalar(reader, node))
        return false;
    const size_t digits = strspn(node->text, "01234567");
    for (size_t i = 0; i < digits && i < 4; i++)
        mode = mode * 8 + (node->text[i] - '0');
    if (digits < 1 || digits > 4 || node->text[digits] != '\0' || mode > 0777)
        return refuse_text(reader, node, "is not an octal number from 000 to 777, such as 022");
    *mode_out = mode;
    return true;
}

static usec_t duration_bound(const char *text, usec_t fallback)
{
    usec_t bound = fallback;
    struct error err;
    const bool ok = !text || units_parse_duration(text, &bound, &err);

    assert(ok);
    (void)ok;
    return bound;
}

bool scalar_duration(const struct reader *reader, const struct node *node, usec_t *duration_out)
{
    struct error err;
    usec_t duration;

    if (!reader_expect_scalar(reader, node))
        return false;
    if (!units_parse_duration(node->text, &duration, &err))
        return reader_refuse(reader, node, err.text);
    if (!check_range(reader, node, duration, duration_bound(reader->field->min, 0),
                     duration_bound(reader->field->max, USEC_MAX)))
        return false;
    *duration_out = duration;
    return true;
}

static bytes_t size_bound(const char *text, bytes_t fallback)
{
    bytes_t bound = fallback;
    struct error err;
    const bool ok = !text || units_parse_size(text, &bound, &err);

    assert(ok);
    (void)ok;
    return bound;
}

bool scalar_size(const struct reader *reader, const struct node *node, bytes_t *size_out)
{
    struct error err;
    bytes_t size;

    if (!reader_expect_scalar(reader, node))
        return false;
    if (!units_parse_size(node->text, &size, &err))
        return reader_refuse(reader, node, err.text);
    if (!check_range(reader, node, (int64_t)size, (int64_t)size_bound(reader->field->min, 0),
                     (int64_t)size_bound(reader->field->max, INT64_MAX)))
        return false;
    *size_out = size;
    return true;
}

bool scalar_rate(const struct reader *reader, const struct node *node, struct units_rate *rate_out)
{
    struct error err;

    if (!reader_expect_scalar(reader, node))
        return false;
    return units_parse_rate(node->text, rate_out, &err) || reader_refuse(reader, node, err.text);
}

/* Never shows the text: it may be a secret. */
bool scalar_text(const struct reader *reader, const struct node *node, const char **text_out)
{
    if (!reader_expect_scalar(reader, node))
        return false;
    if (text_is_blank(node->text))
        return reader_refuse(reader, node, "is empty");
    *text_out = arena_text(reader->scope->arena, node->text);
    return true;
}

bool scalar_name(const struct reader *reader, const struct node *node, const char **name_out)
{
    const int64_t max = count_bound(reader->field->max, JOB_NAME_MAX);
    struct error reason;

    if (!reader_expect_scalar(reader, node))
        return false;
    if (job_name_check(node->text, (size_t)max, &reason))
        return scalar_text(reader, node, name_out);
    return diagnostics_add(reader->scope->diagnostics, node->place, "%s: %s", reader->name,
                           reason.text);
}

/* "." is the folder itself; "./x" is x in it. */
static const char *absolute_path(const struct reader *reader, const struct node *node)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_MAX);
    const char *text = node->text;

    if (text[0] != '/') {
        while (text_starts_with(text, "./"))
            text += 2;
        buffer_text(&path, node->place.source->folder);
        if (text[0] != '\0' && !text_equal(text, "."))
            buffer_char(&path, '/');
    }
    buffer_text(&path, text_equal(text, ".") ? "" : text);
    return path.failed ? NULL : arena_text(reader->scope->arena, buffer_str(&path));
}

bool scalar_path(const struct reader *reader, const struct node *node, const char **path_out)
{
    if (!reader_expect_scalar(reader, node))
        return false;
    if (text_is_blank(node->text))
        return reader_refuse(reader, node, "is empty");
    const char *path = absolute_path(reader, node);
    if (!path)
        return reader_refuse(reader, node, "is too long");
    *path_out = path;
    return true;
}

bool scalar_flag(const struct reader *reader, const struct node *node, bool *flag_out)
{
    const bool is_true = text_equal(node->text, "true");

    if (!reader_expect_scalar(reader, node))
        return false;
    if (!is_true && !text_equal(node->text, "false"))
        return refuse_text(reader, node, "is neither true nor false");
    *flag_out = is_true;
    return true;
}

static bool refuse_choice(const struct reader *reader, const struct node *node,
                          const char *const *choices, size_t count)
{
    CLEANUP(buffer_done) struct buffer list = BUFFER(RANGE_TEXT_SIZE);
    char shown[EXCERPT_SIZE];

    for (size_t i = 0; i < count; i++)
        buffer_printf(&list, "%s%s", i == 0 ? "" : ", ", choices[i]);
    return diagnostics_add(
        reader->scope->diagnostics, node->place, "%s: '%s' is not one of %s%s", reader->name,
        excerpt_of(node->text, shown), buffer_str(&list),
        diagnostics_hint(reader->scope->diagnostics, node->text, choices, count));
}

bool scalar_choice(const struct reader *reader, const struct node *node, unsigned *index_out)
{
    const char *const *choices = reader->field->choices;
    size_t count = 0;

    if (!reader_expect_scalar(reader, node))
        return false;
    for (; choices[count]; count++) {
        if (text_equal(choices[count], node->text)) {
            *index_out = (unsigned)count;
            return true;
        }
    }
    return refuse_choice(reader, node, choices, count);
}
