/*
 * printed.c - what a plugin has printed, passed on as if it had been said by th_log().
 */
#include "worker/printed.h"

#include "base/log.h"
#include "process/print_file.h"
#include "worker/call.h"
#include "worker/output.h"
#include "worker/plugins.h"
#include "worker/speech.h"

#include <stdio.h>
#include <stdio_ext.h>

static const struct bytes newline = {(const unsigned char *)"\n", 1};

/* What has no newline yet is still in the buffer. */
static struct bytes news_of(struct print_file *file)
{
    if (__fpending(stdout) > 0)
        fflush(stdout);
    return print_file_news(file);
}

static void log_line(void *context, struct bytes line, uint64_t dropped)
{
    const char *const *plugin = context;
    char text[OUTPUT_LINE_MAX + 1];

    (void)dropped;
    log_info("plugin_output", "plugin=%s line=%s", *plugin, speech_text(line, text));
}

static void pass_line(void *context, struct bytes line, uint64_t dropped)
{
    const struct call *call = context;

    call->listener->line(call->listener->context, false, line, dropped);
}

static void split(struct output *output, struct bytes text)
{
    output_add(output, text);
    output_end(output);
}

void printed_pass_on(struct print_file *file, const char *plugin)
{
    const struct bytes news = news_of(file);
    struct output output;

    if (news.length == 0)
        return;
    output = (struct output){.line = log_line, .context = &plugin};
    split(&output, news);
    print_file_make_room(file);
}

static void keep(struct call *call, struct bytes text)
{
    const struct handler_listener *listener = call->listener;

    tail_add(&call->output, text);
    if (listener->output)
        listener->output(listener->context, text);
}

static void pass_lines(struct call *call, struct bytes text)
{
    struct output output = {.line = pass_line, .context = call};

    if (!call->listener->line)
        return;
    split(&output, text);
}

void printed_collect(struct call *call)
{
    struct print_file *file = plugins_print_file(call->place->plugins);

    if (!call->job) {
        printed_pass_on(file, call->plugin);
        return;
    }
    const struct bytes news = news_of(file);
    if (news.length == 0)
        return;
    keep(call, news);
    pass_lines(call, news);
    print_file_make_room(file);
}

void printed_say(struct call *call, struct bytes line)
{
    const struct handler_listener *listener = call->listener;

    printed_collect(call);
    print_file_add(plugins_print_file(call->place->plugins), line);
    if (tail_is_mid_line(&call->output))
        keep(call, newline);
    keep(call, line);
    keep(call, newline);
    if (listener->line)
        listener->line(listener->context, false, line, 0);
}
