/*
 * steering.c - what a job says on descriptor 3.
 */
#include "worker/steering.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_LENGTH (JOB_RESULT_MAX + sizeof "result ")

#define PROBLEM_SIZE (EXCERPT_SIZE + 160)

static void report(struct steering *steering, const char *problem)
{
    if (steering->problems++ < STEERING_PROBLEMS_MAX && steering->garbage)
        steering->garbage(steering->context, problem);
}

static void keep_text(char kept[STEERING_TEXT_SIZE], const char *text)
{
    const size_t length = text_fit(text, STEERING_TEXT_SIZE - 1);

    memcpy(kept, text, length);
    kept[length] = '\0';
}

static bool take_progress(struct steering *steering, char *rest)
{
    const size_t length = strcspn(rest, " ");
    const char *text = rest[length] == ' ' ? rest + length + 1 : "";
    int64_t percent;

    rest[length] = '\0';
    if (!text_to_int(rest, 0, 100, &percent))
        return false;
    steering->progress_percent = (int)percent;
    keep_text(steering->progress_text, text);
    if (steering->progress)
        steering->progress(steering->context, (int)percent, steering->progress_text);
    return true;
}

static void report_no_json(struct steering *steering, const char *text)
{
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};
    char shown[EXCERPT_SIZE], problem[PROBLEM_SIZE];
    struct error err;

    if (json_check(bytes, &err))
        return;
    snprintf(problem, sizeof problem, "the result on descriptor 3 is not JSON: %s",
             excerpt_of(text, shown));
    report(steering, problem);
}

static bool take_result(struct steering *steering, char *rest)
{
    if (*rest == '\0' || strlen(rest) > JOB_RESULT_MAX)
        return false;
    buffer_clear(&steering->result);
    buffer_text(&steering->result, rest);
    steering->has_result = !steering->result.failed;
    report_no_json(steering, rest);
    return true;
}

static bool take_snooze(struct steering *steering, char *rest)
{
    struct error err;
    usec_t duration;

    if (!units_parse_duration(rest, &duration, &err))
        return false;
    steering->verdict = STEERING_SNOOZE;
    steering->snooze_for = duration;
    return true;
}

static bool take_dead(struct steering *steering, char *rest)
{
    steering->verdict = STEERING_DEAD;
    keep_text(steering->reason, rest);
    return true;
}

static const struct {
    const char *word;
    bool (*take)(struct steering *steering, char *rest);
    const char *form;
} words[] = {
    {"progress", take_progress, "it is: progress, a number from 0 to 100, and a text"},
    {"result", take_result, "it is: result, and up to 64 KiB of JSON"},
    {"snooze", take_snooze, "it is: snooze, and a duration such as 30s"},
    {"dead", take_dead, "it is: dead, and a reason"},
};

/* NULL: it was taken. Otherwise what would be. */
static const char *take(struct steering *steering, char *line)
{
    char *rest = line + strcspn(line, " ");

    if (*rest == ' ')
        *rest++ = '\0';
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (text_equal(line, words[i].word))
            return words[i].take(steering, rest) ? NULL : words[i].form;
    }
    return "the words are progress, result, snooze and dead";
}

static void take_text(struct steering *steering, char *text)
{
    char shown[EXCERPT_SIZE], problem[PROBLEM_SIZE];

    excerpt_of(text, shown);
    const char *form = take(steering, text);
    if (!form)
        return;
    snprintf(problem, sizeof problem, "not understood on descriptor 3: %s (%s)", shown, form);
    report(steering, problem);
}

static void take_line(struct steering *steering)
{
    struct buffer *line = &steering->line;

    if (line->failed) {
        report(steering, "a line on descriptor 3 is over 64 KiB: it is ignored");
        return;
    }
    while (line->length > 0 && strchr(" \r\t", line->data[line->length - 1]))
        line->data[--line->length] = '\0';
    if (line->length == 0)
        return;
    const bool is_text = text_is_utf8((struct bytes){(unsigned char *)line->data, line->length}) &&
                         strlen(line->data) == line->length;
    if (is_text)
        take_text(steering, line->data);
    else
        report(steering, "a line on descriptor 3 is not UTF-8 text: it is ignored");
}

void steering_init(struct steering *steering)
{
    *steering = (struct steering){
        .progress_percent = -1,
        .line = BUFFER(LINE_MAX_LENGTH),
        .result = BUFFER(JOB_RESULT_MAX),
    };
}

void steering_add(struct steering *steering, struct bytes data)
{
    while (data.length > 0) {
        const unsigned char *newline = memchr(data.data, '\n', data.length);
        const size_t length = newline ? (size_t)(newline - data.data) : data.length;

        buffer_add(&steering->line, data.data, length);
        if (!newline)
            return;
        take_line(steering);
        buffer_clear(&steering->line);
        data = (struct bytes){newline + 1, data.length - length - 1};
    }
}

void steering_end(struct steering *steering)
{
    take_line(steering);
    buffer_clear(&steering->line);
}

void steering_done(struct steering *steering)
{
    buffer_done(&steering->line);
    buffer_done(&steering->result);
}
