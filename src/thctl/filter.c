/*
 * filter.c - the options that pick jobs, the same words in every command.
 */
#include "thctl/filter.h"

#include "base/error.h"
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
