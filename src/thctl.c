/*
 * thctl.c - the command line client: enqueue, look, repair, steer.
 *
 * main() reads the global options, finds the command in the table and lets it run. What a command
 * is, and everything that is said about it, is in the table at the end of its file in thctl/.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "cli/display.h"
#include "thctl/command.h"
#include "thctl/completion.h"
#include "thctl/help.h"
#include "thctl/session.h"

#include <taskharbor/version.h>

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELP_MAX ((size_t)64 * 1024)

static enum status run_help(struct session *session, const struct option_value *options,
                            const struct words *arguments);

static enum status run_completion(struct session *session, const struct option_value *options,
                                  const struct words *arguments);

static const char *const help_examples[] = {"help", "help enqueue", NULL};

static const struct command command_help = {
    .name = "help",
    .summary = "show help for a command",
    .arguments = "[COMMAND]",
    .examples = help_examples,
    .options = options_none,
    .max_arguments = 1,
    .needs_no_backend = true,
    .takes_command = true,
    .run = run_help,
};

static const char *const completion_examples[] = {
    "completion > ~/.local/share/bash-completion/completions/thctl", NULL};

static const struct command command_completion = {
    .name = "completion",
    .summary = "print what completes command lines in bash",
    .arguments = "",
    .details = "An installed thctl has it in place already. For this shell alone:\n"
               "eval \"$(thctl completion)\"\n",
    .examples = completion_examples,
    .options = options_none,
    .needs_no_backend = true,
    .run = run_completion,
};

static const struct command *const commands[] = {
    &command_enqueue, &command_ls,      &command_show,    &command_why,        &command_logs,
    &command_cancel,  &command_run_now, &command_retry,   &command_rm,         &command_stats,
    &command_queues,  &command_pools,   &command_top,     &command_cron,       &command_pause,
    &command_resume,  &command_init,    &command_migrate, &command_completion, &command_help,
};

enum global_option {
    GLOBAL_CONFIG,
    GLOBAL_BACKEND,
    GLOBAL_JSON,
    GLOBAL_HELP,
    GLOBAL_VERSION,
    GLOBAL_OPTIONS
};

/* clang-format off */
static const struct option global_options[] = {
    [GLOBAL_CONFIG] = {"config", 'c', "F", "the config (./jobs.yaml, /etc/taskharbor/jobs.yaml)", OPTION_TEXT},
    [GLOBAL_BACKEND] = {"backend", 'b', "URL", "where the jobs are, e.g. sqlite:./jobs.db (that of --config; $TASKHARBOR_BACKEND; jobs.yaml)", OPTION_TEXT},
    [GLOBAL_JSON] = {"json", 'j', NULL, "answer with one JSON object per line", OPTION_FLAG},
    [GLOBAL_HELP] = {"help", 'h', NULL, "show help", OPTION_FLAG},
    [GLOBAL_VERSION] = {"version", 'V', NULL, "show the version", OPTION_FLAG},
    [GLOBAL_OPTIONS] = {.name = NULL},
};
/* clang-format on */

static bool find_command(const char *name, const struct command **command_out)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (!text_equal(commands[i]->name, name))
            continue;
        *command_out = commands[i];
        return true;
    }
    return false;
}

static enum status refuse_command(const char *name)
{
    const char *names[COUNT_OF(commands)];
    char shown[EXCERPT_SIZE];

    for (size_t i = 0; i < COUNT_OF(commands); i++)
        names[i] = commands[i]->name;
    const char *closest = text_closest(name, names, COUNT_OF(names));
    excerpt_of(name, shown);
    if (closest)
        output_complain("unknown command '%s' (did you mean '%s'?)", shown, closest);
    else
        output_complain("unknown command '%s' (see 'thctl help')", shown);
    return STATUS_USAGE;
}

/* Where to read more, unless the sentence ends with advice of its own. `name` NULL: no command. */
static enum status refuse_options(const char *name, const struct error *err)
{
    size_t length = strlen(err->text);
    bool is_advised = length > 0 && err->text[length - 1] == ')';

    if (!name)
        output_complain("%s%s", err->text, is_advised ? "" : " (see 'thctl --help')");
    else if (is_advised)
        output_complain("%s: %s", name, err->text);
    else
        output_complain("%s: %s (see 'thctl %s --help')", name, err->text, name);
    return STATUS_USAGE;
}

static void add_help(struct buffer *text, const struct command *command)
{
    if (!command)
        help_add_overview(text, commands, COUNT_OF(commands), global_options);
    else
        help_add_command(text, command, global_options);
}

static enum status print_help(struct session *session, const struct command *command)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(HELP_MAX);

    add_help(&text, command);
    output_text(&session->out, buffer_str(&text));
    return STATUS_OK;
}

static enum status print_version(struct session *session)
{
    output_text(&session->out, "thctl " TH_VERSION "\n");
    return STATUS_OK;
}

static enum status run_help(struct session *session, const struct option_value *options,
                            const struct words *arguments)
{
    const struct command *command = NULL;

    (void)options;
    if (arguments->count > 0 && !find_command(arguments->items[0], &command))
        return refuse_command(arguments->items[0]);
    return print_help(session, command);
}

static enum status run_completion(struct session *session, const struct option_value *options,
                                  const struct words *arguments)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(HELP_MAX);

    (void)options;
    (void)arguments;
    completion_add(&text, commands, COUNT_OF(commands), global_options);
    output_text(&session->out, buffer_str(&text));
    return STATUS_OK;
}

/* Plain `thctl`: what one could have typed instead. */
static enum status show_overview(void)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(HELP_MAX);

    add_help(&text, NULL);
    fputs(buffer_str(&text), stderr);
    return STATUS_USAGE;
}

/* What was typed shows in ps for as long as thctl runs, and it may have a password in it. */
static const char *take_url(struct session *session, const char *typed)
{
    session->typed_url = typed ? strdup(typed) : NULL;
    if (!session->typed_url)
        return typed;
    explicit_bzero((char *)typed, strlen(typed));
    return session->typed_url;
}

static void apply_globals(struct session *session, const struct option_value *global)
{
    session->json = global[GLOBAL_JSON].given;
    session->config_typed = global[GLOBAL_CONFIG].text;
    session->backend_typed = global[GLOBAL_BACKEND].given;
    session->backend = take_url(session, global[GLOBAL_BACKEND].text);
}

static bool check_arguments(const struct command *command, size_t count)
{
    if (count >= command->min_arguments && count <= command->max_arguments)
        return true;
    output_complain("%s: too %s arguments: usage is 'thctl %s%s%s' (see 'thctl %s --help')",
                    command->name, count < command->min_arguments ? "few" : "many", command->name,
                    command->arguments[0] != '\0' ? " " : "", command->arguments, command->name);
    return false;
}

static enum status find_backend(const struct command *command, struct session *session)
{
    enum status status = command->needs_no_backend ? STATUS_OK : session_configure(session);

    if (status != STATUS_OK || session->backend || command->needs_no_backend)
        return status;
    output_complain("no backend: give --backend sqlite:./jobs.db or set TASKHARBOR_BACKEND, or "
                    "give --config jobs.yaml ('thctl init' writes one)");
    return STATUS_USAGE;
}

static enum status run_command(struct session *session, const struct command *command,
                               struct option_value *global, struct words *words)
{
    struct option_value values[COMMAND_OPTIONS_MAX] = {0};
    const struct option_set sets[] = {{command->options, values}, {global_options, global}};
    struct error err;

    assert(options_count(command->options) <= COUNT_OF(values));
    if (!options_parse(sets, COUNT_OF(sets), OPTIONS_ALL, words, &err))
        return refuse_options(command->name, &err);
    if (global[GLOBAL_HELP].given)
        return print_help(session, command);
    if (global[GLOBAL_VERSION].given)
        return print_version(session);
    apply_globals(session, global);
    snprintf(session->caller, sizeof session->caller, "thctl %s", command->name);
    if (!check_arguments(command, words->count))
        return STATUS_USAGE;
    enum status status = find_backend(command, session);
    return status == STATUS_OK ? command->run(session, values, words) : status;
}

static enum status run(struct session *session, struct words *words)
{
    struct option_value global[GLOBAL_OPTIONS] = {0};
    const struct option_set sets[] = {{global_options, global}};
    const struct command *command = NULL;
    struct error err;

    if (!options_parse(sets, COUNT_OF(sets), OPTIONS_LEADING, words, &err))
        return refuse_options(NULL, &err);
    if (global[GLOBAL_VERSION].given)
        return print_version(session);
    if (words->count == 0)
        return global[GLOBAL_HELP].given ? print_help(session, NULL) : show_overview();
    if (!find_command(words->items[0], &command))
        return refuse_command(words->items[0]);
    words->items++;
    words->count--;
    return run_command(session, command, global, words);
}

/* A descriptor that is missing would be taken by the next file opened, and then be written to.
 * What stands in for it cannot be used, so that using it is noticed. */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(STATUS_FAILED);
    }
}

int main(int argc, char **argv)
{
    struct session session = {0};
    struct words words = {(const char **)argv + 1, argc > 0 ? (size_t)argc - 1 : 0};

    hold_standard_descriptors();
    /* A reader that went away and a file over its limit are errors of a write, not our end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    display_init();
    session.out = output_to_stdout();

    enum status status = run(&session, &words);
    session_done(&session);
    if (!output_finish(&session.out) && status == STATUS_OK)
        status = STATUS_FAILED;
    return (int)status;
}
