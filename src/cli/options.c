/*
 * options.c - options of a command line, read by tables.
 *
 * Invariants:
 *   - Values are checked here, by the kind of their row, so that a command starts with good ones.
 *   - A refusal names the option as it was written.
 */
#include "cli/options.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job.h"

#include <stdio.h>
#include <string.h>

#define CANDIDATES_MAX 64
#define HELP_COLUMN    28 /* where the help of an option starts */
#define HELP_WIDTH     80 /* where its lines end */

const struct option options_none[] = {{.name = NULL}};

const char *const options_booleans[] = {"false", "true", NULL};

/* A walk through the words: `next` is read, what is kept stands before `kept`. */
struct walk {
    const struct option_set *sets;
    size_t set_count;
    struct words *words;
    size_t next, kept;
};

/* A row that was found, and where its value goes. */
struct match {
    const struct option *option;
    struct option_value *value;
    char written[EXCERPT_SIZE]; /* "--queue" or "-q" */
};

static void keep(struct walk *walk, const char *word)
{
    walk->words->items[walk->kept++] = word;
}

static bool found(const struct option_set *set, size_t row, struct match *match_out)
{
    match_out->option = &set->table[row];
    match_out->value = &set->values[row];
    return true;
}

static bool find_name(const struct walk *walk, const char *name, size_t length,
                      struct match *match_out)
{
    for (size_t s = 0; s < walk->set_count; s++) {
        const struct option_set *set = &walk->sets[s];

        for (size_t i = 0; set->table[i].name; i++) {
            const char *candidate = set->table[i].name;
            if (strlen(candidate) == length && strncmp(candidate, name, length) == 0)
                return found(set, i, match_out);
        }
    }
    return false;
}

static bool find_letter(const struct walk *walk, char letter, struct match *match_out)
{
    for (size_t s = 0; s < walk->set_count; s++) {
        const struct option_set *set = &walk->sets[s];

        for (size_t i = 0; set->table[i].name; i++) {
            if (set->table[i].letter == letter)
                return found(set, i, match_out);
        }
    }
    return false;
}

static bool refuse_name(const struct walk *walk, const char *name, struct error *err)
{
    const char *candidates[CANDIDATES_MAX];
    size_t count = 0;
    char shown[EXCERPT_SIZE];

    for (size_t s = 0; s < walk->set_count; s++) {
        const struct option *table = walk->sets[s].table;
        for (size_t i = 0; table[i].name && count < CANDIDATES_MAX; i++)
            candidates[count++] = table[i].name;
    }
    const char *closest = text_closest(name, candidates, count);
    excerpt_of(name, shown);
    if (closest)
        return error_set(err, TH_E_INVALID, "unknown option '--%s' (did you mean '--%s'?)", shown,
                         closest);
    return error_set(err, TH_E_INVALID, "unknown option '--%s'", shown);
}

static bool refuse_letter(const char *word, struct error *err)
{
    char shown[EXCERPT_SIZE];

    return error_set(err, TH_E_INVALID,
                     "unknown option '%s' (put -- before an argument that starts with -)",
                     excerpt_of(word, shown));
}

static bool read_number(const struct match *match, struct error *err)
{
    const struct option *option = match->option;

    if (!text_to_int(match->value->text, option->min, option->max, &match->value->number))
        return error_set(err, TH_E_INVALID, "%s takes a whole number from %" PRId64 " to %" PRId64,
                         match->written, option->min, option->max);
    return true;
}

static bool read_duration(const struct match *match, struct error *err)
{
    const struct option *option = match->option;
    char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

    if (!units_parse_duration(match->value->text, &match->value->number, err))
        return error_prefix(err, "%s", match->written);
    if (match->value->number < option->min || match->value->number > option->max)
        return error_set(err, TH_E_INVALID, "%s takes a duration from %s to %s", match->written,
                         units_format_duration(option->min, min),
                         units_format_duration(option->max, max));
    return true;
}

static bool read_choice(const struct match *match, struct error *err)
{
    const char *const *choices = match->option->choices;
    char shown[EXCERPT_SIZE];
    size_t count = 0;

    for (; choices[count]; count++) {
        if (text_equal(choices[count], match->value->text)) {
            match->value->number = (int64_t)count;
            return true;
        }
    }
    const char *closest = text_closest(match->value->text, choices, count);
    excerpt_of(match->value->text, shown);
    if (closest)
        return error_set(err, TH_E_INVALID, "%s cannot be '%s' (did you mean '%s'?)",
                         match->written, shown, closest);

    error_set(err, TH_E_INVALID, "%s cannot be '%s': use one of", match->written, shown);
    for (size_t i = 0, end = strlen(err->text); i < count && end < sizeof err->text; i++)
        end += (size_t)snprintf(err->text + end, sizeof err->text - end, " %s", choices[i]);
    return false;
}

static bool read_id(const struct match *match, struct error *err)
{
    char shown[EXCERPT_SIZE];

    if (!uuid_parse(match->value->text, &match->value->id) || uuid_is_nil(&match->value->id))
        return error_set(err, TH_E_INVALID, "%s: '%s' is not the id of a job: use a UUID",
                         match->written, excerpt_of(match->value->text, shown));
    return true;
}

static bool read_name(const struct match *match, struct error *err)
{
    return job_name_check(match->value->text, JOB_NAME_MAX, err) ||
           error_prefix(err, "%s", match->written);
}

static bool take_value(const struct match *match, const char *text, struct error *err)
{
    struct option_value *value = match->value;

    if (value->given && !match->option->is_several)
        return error_set(err, TH_E_INVALID, "%s is given twice", match->written);
    if (value->count == OPTIONS_SEVERAL_MAX)
        return error_set(err, TH_E_INVALID, "%s is given more than %d times", match->written,
                         OPTIONS_SEVERAL_MAX);
    value->given = true;
    value->text = text;
    if (match->option->is_several)
        value->all[value->count++] = text;

    switch (match->option->kind) {
    case OPTION_FLAG:
    case OPTION_TEXT:
        return true;
    case OPTION_NAME:
        return read_name(match, err);
    case OPTION_NUMBER:
        return read_number(match, err);
    case OPTION_DURATION:
        return read_duration(match, err);
    case OPTION_CHOICE:
        return read_choice(match, err);
    case OPTION_ID:
        return read_id(match, err);
    }
    return error_set(err, TH_E_INTERNAL, "%s has no kind", match->written);
}

/* Whether it needs no value. */
static bool is_complete(const struct option *option)
{
    return option->kind == OPTION_FLAG || option->is_optional;
}

static bool take_next_word(struct walk *walk, const struct match *match, struct error *err)
{
    if (walk->next == walk->words->count)
        return error_set(err, TH_E_INVALID, "%s needs a value: %s %s", match->written,
                         match->written, match->option->value);
    return take_value(match, walk->words->items[walk->next++], err);
}

/* --name, --name VALUE or --name=VALUE; `word` begins after the dashes. */
static bool read_long(struct walk *walk, const char *word, struct error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    struct match match;

    if (!find_name(walk, word, length, &match)) {
        char name[EXCERPT_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)(length < EXCERPT_SIZE ? length : EXCERPT_SIZE),
                 word);
        return refuse_name(walk, name, err);
    }
    snprintf(match.written, sizeof match.written, "--%s", match.option->name);
    if (!equals && is_complete(match.option)) {
        match.value->given = true;
        return true;
    }
    if (match.option->kind == OPTION_FLAG)
        return error_set(err, TH_E_INVALID, "%s takes no value", match.written);
    return equals ? take_value(&match, equals + 1, err) : take_next_word(walk, &match, err);
}

/* -a, -ab, -l VALUE or -lVALUE. */
static bool read_letters(struct walk *walk, const char *word, struct error *err)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        struct match match;

        if (!find_letter(walk, *letter, &match))
            return refuse_letter(word, err);
        snprintf(match.written, sizeof match.written, "-%c", *letter);
        if (is_complete(match.option))
            match.value->given = true;
        else if (letter[1] != '\0')
            return take_value(&match, letter + 1, err);
        else
            return take_next_word(walk, &match, err);
    }
    return true;
}

static void keep_rest(struct walk *walk)
{
    while (walk->next < walk->words->count)
        keep(walk, walk->words->items[walk->next++]);
}

bool options_parse(const struct option_set *sets, size_t set_count, enum options_scope scope,
                   struct words *words, struct error *err)
{
    struct walk walk = {.sets = sets, .set_count = set_count, .words = words};

    while (walk.next < words->count) {
        const char *word = words->items[walk.next++];

        if (strcmp(word, "--") == 0) {
            keep_rest(&walk);
        } else if (word[0] != '-' || word[1] == '\0') {
            keep(&walk, word);
            if (scope == OPTIONS_LEADING)
                keep_rest(&walk);
        } else if (word[1] == '-' ? !read_long(&walk, word + 2, err)
                                  : !read_letters(&walk, word, err)) {
            return false;
        }
    }
    words->count = walk.kept;
    return true;
}

size_t options_count(const struct option *table)
{
    size_t count = 0;

    while (table[count].name)
        count++;
    return count;
}

/* Words up to the end of the line, and the others on lines of their own. */
static void add_wrapped(struct buffer *out, const char *text)
{
    size_t column = HELP_COLUMN;

    while (text[0] != '\0') {
        size_t length = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            buffer_printf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buffer_char(out, ' ');
            column++;
        }
        buffer_add(out, text, length);
        column += length;
        text += length + (text[length] == ' ');
    }
    buffer_char(out, '\n');
}

void options_add_help(struct buffer *out, const struct option *table)
{
    for (const struct option *option = table; option->name; option++) {
        const char *form = !option->value ? "" : option->is_optional ? "[=%s]" : " %s";
        char left[80] = "", value[40] = "";

        snprintf(value, sizeof value, form, option->value);
        int width = snprintf(left, sizeof left, "  %c%c%s--%s%s", option->letter ? '-' : ' ',
                             option->letter ? option->letter : ' ', option->letter ? ", " : "  ",
                             option->name, value);

        if (width > HELP_COLUMN - 2)
            buffer_printf(out, "%s\n%*s", left, HELP_COLUMN, "");
        else
            buffer_printf(out, "%-*s", HELP_COLUMN, left);
        add_wrapped(out, option->help);
    }
}
