/*
 * filter.c - the options that pick jobs, the same words in every command.
 */
#include "thctl/filter.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "client/offers.h"
#include "thctl/known_queues.h"
#include "thctl/when.h"

static bool read_moment(const char *option, const char *text, usec_t now, usec_t *moment_out,
                        struct error *err)
{
    return !text || when_parse_past(text, now, moment_out, err) ||
           error_prefix(err, "--%s", option);
}

bool filter_read(const struct option_value *options, usec_t now, struct job_filter *filter_out,
                 struct error *err)
{
    *filter_out = (struct job_filter){
        .queue = options[FILTER_QUEUE].text,
        .type = options[FILTER_TYPE].text,
        .tag = options[FILTER_TAG].text,
        .key = options[FILTER_KEY].text,
        .error = options[FILTER_ERROR].text,
    };
    return read_moment("since", options[FILTER_SINCE].text, now, &filter_out->since, err) &&
           read_moment("until", options[FILTER_UNTIL].text, now, &filter_out->until, err);
}

bool filter_is_given(const struct option_value *options)
{
    for (size_t i = 0; i < FILTER_OPTIONS; i++)
        if (options[i].given)
            return true;
    return false;
}

static bool ask(const char *option, const char *given, const char *close,
                char text[FILTER_QUESTION_SIZE])
{
    if (!close || text_equal(close, given))
        return false;
    snprintf(text, FILTER_QUESTION_SIZE, " (did you mean '--%s %s'?)", option, close);
    return true;
}

static bool ask_queue(struct session *session, const char *queue, char text[FILTER_QUESTION_SIZE])
{
    CLEANUP(known_queues_done) struct known_queues known = {0};
    struct error ignored;

    return known_queues_read(session, &known, &ignored) && !known_queues_has(&known, queue) &&
           ask("queue", queue, known_queues_closest(&known, queue), text);
}

static bool ask_type(struct session *session, const char *type, char text[FILTER_QUESTION_SIZE])
{
    CLEANUP(offers_done) struct offers offers = {0};
    struct error ignored;

    return offers_read(session->store, &offers, &ignored) &&
           ask("type", type, offers_closest_type(&offers, type), text);
}

const char *filter_question(struct session *session, const struct option_value *options,
                            char text[FILTER_QUESTION_SIZE])
{
    const char *queue = options[FILTER_QUEUE].text, *type = options[FILTER_TYPE].text;

    text[0] = '\0';
    if ((queue && ask_queue(session, queue, text)) || (type && ask_type(session, type, text)))
        return text;
    return "";
}
