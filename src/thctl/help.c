/*
 * help.c - what thctl says about itself, from the tables that it works by.
 */
#include "thctl/help.h"

#include "base/buffer.h"

void help_add_overview(struct buffer *out, const struct command *const *commands, size_t count,
                       const struct option *global)
{
    buffer_text(out, "thctl - store, watch and repair the jobs of TaskHarbor\n\n"
                     "usage: thctl [--config F | --backend URL] [--json] COMMAND ...\n\n"
                     "commands:\n");
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
    buffer_text(out, "\noptions, before or after the command:\n");
    options_add_help(out, global);
    buffer_text(out,
                "\nexamples:\n"
                "  export TASKHARBOR_BACKEND=sqlite:./jobs.db\n"
                "  thctl enqueue email:send '{\"to\": \"a@b.c\"}'\n"
                "  thctl ls --state dead\n"
                "  thctl help enqueue\n\n"
                "exit: 0 done, 1 failed, 2 wrong usage, 69 backend unreachable, 78 wrong config,\n"
                "      124 --wait took too long\n");
}

void help_add_command(struct buffer *out, const struct command *command,
                      const struct option *global)
{
    bool has_options = command->options[0].name != NULL;

    buffer_printf(out, "thctl %s - %s\n\nusage: thctl %s%s%s%s\n", command->name, command->summary,
                  command->name, command->arguments[0] != '\0' ? " " : "", command->arguments,
                  has_options ? " [OPTION]..." : "");
    if (command->details)
        buffer_printf(out, "\n%s", command->details);
    if (has_options) {
        buffer_text(out, "\noptions:\n");
        options_add_help(out, command->options);
    }
    buffer_text(out, "\nglobal options:\n");
    options_add_help(out, global);
    buffer_text(out, "\nexamples:\n");
    for (const char *const *example = command->examples; *example; example++)
        buffer_printf(out, "  thctl %s\n", *example);
}
