/*
 * thd.c - the daemon: options, config, --check, then the pool.
 *
 * Errors are reported before anything is started: with a wrong config not a single job runs.
 */
#include "backend.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/log.h"
#include "cli/display.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/status.h"
#include "config/config.h"
#include "master/generation.h"
#include "master/listeners.h"
#include "master/master.h"
#include "master/rejection.h"
#include "master/roles.h"
#include "precheck/precheck.h"
#include "process/title.h"

#include <taskharbor/version.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIAGNOSTICS_TEXT_MAX ((size_t)1 << 20)
#define HELP_MAX             ((size_t)16 * 1024)
#define WORKERS_MAX          1024
#define LAST_WORDS           USEC_PER_SEC /* for whoever reads the log slowly */

enum thd_option {
    OPTION_CONFIG,
    OPTION_BACKEND,
    OPTION_CHECK,
    OPTION_STRICT,
    OPTION_NUM_WORKERS,
    OPTION_ONCE,
    OPTION_HELP,
    OPTION_VERSION,
    THD_OPTIONS
};

/* clang-format off */
static const struct option options[] = {
    [OPTION_CONFIG] = {"config", 'c', "F", "the config (./jobs.yaml, /etc/taskharbor/jobs.yaml)", OPTION_TEXT},
    [OPTION_BACKEND] = {"backend", 'b', "URL", "where the jobs are, e.g. sqlite:./jobs.db (that of --config; $TASKHARBOR_BACKEND; jobs.yaml)", OPTION_TEXT},
    [OPTION_CHECK] = {"check", 0, NULL, "only check: config, users, programs, plugins, schemas, backend", OPTION_FLAG},
    [OPTION_STRICT] = {"strict", 0, NULL, "with --check: warnings are errors", OPTION_FLAG},
    [OPTION_NUM_WORKERS] = {"num-workers", 'n', "N", "worker processes (pool.num_workers)", OPTION_NUMBER, 1, WORKERS_MAX},
    [OPTION_ONCE] = {"once", 0, NULL, "run until nothing is ready, then exit", OPTION_FLAG},
    [OPTION_HELP] = {"help", 'h', NULL, "show help", OPTION_FLAG},
    [OPTION_VERSION] = {"version", 'V', NULL, "show the version", OPTION_FLAG},
    [THD_OPTIONS] = {.name = NULL},
};
/* clang-format on */

/* One run of thd. */
struct daemon {
    struct option_value values[THD_OPTIONS];
    struct diagnostics diagnostics; /* with what was read, until the pool starts */
    struct config config;
    struct backend backend;
    struct invocation invocation;
    struct listeners listeners;
};

static void daemon_done(struct daemon *daemon)
{
    listeners_close(&daemon->listeners);
    free(daemon->invocation.path);
    backend_done(&daemon->backend);
    diagnostics_done(&daemon->diagnostics);
    config_done(&daemon->config);
}

/* ---- what was typed ---- */

static enum status refuse(const char *sentence)
{
    output_remark("thd: %s", sentence);
    output_remark("thd: see 'thd --help'");
    return STATUS_USAGE;
}

static enum status print_help(void)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(HELP_MAX);
    struct output out = output_to_stdout();

    buffer_text(&text, "thd - run the jobs of TaskHarbor\n\n"
                       "usage: thd [--config F] [OPTION]...\n\n"
                       "options:\n");
    options_add_help(&text, options);
    buffer_text(&text,
                "\nsignals:\n"
                "  TERM, INT   drain: wait for what runs, up to pool.shutdown_timeout, and exit\n"
                "  QUIT        and a second TERM or INT: the same without the wait\n"
                "  HUP         read the config again; a wrong one is refused\n"
                "  USR1        log what every process does\n"
                "  USR2        start the thd that is installed now, then drain this one\n"
                "  TSTP, CONT  stop reserving jobs, go on\n"
                "\nexamples:\n"
                "  thctl init && thd\n"
                "  thd --config jobs.yaml --check --strict\n"
                "  thd --config jobs.yaml --once\n"
                "\nexit: 0 drained, 1 not all could be given back, 2 wrong usage, 69 backend\n"
                "unreachable (--check only), 78 wrong config\n");
    output_text(&out, buffer_str(&text));
    return output_finish(&out) ? STATUS_OK : STATUS_FAILED;
}

static enum status print_version(void)
{
    struct output out = output_to_stdout();

    output_text(&out, "thd " TH_VERSION "\n");
    return output_finish(&out) ? STATUS_OK : STATUS_FAILED;
}

static enum status read_options(struct daemon *daemon, struct words *words)
{
    const struct option_set sets[] = {{options, daemon->values}};
    char shown[EXCERPT_SIZE];
    struct error err;

    if (!options_parse(sets, COUNT_OF(sets), OPTIONS_ALL, words, &err))
        return refuse(err.text);
    if (daemon->values[OPTION_STRICT].given && !daemon->values[OPTION_CHECK].given)
        return refuse("--strict goes with --check");
    if (words->count == 0)
        return STATUS_OK;
    error_set(&err, TH_E_INVALID, "takes no arguments, and '%s' is one",
              excerpt_of(words->items[0], shown));
    return refuse(err.text);
}

/* ---- the config ---- */

static void show(const struct diagnostics *diagnostics)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(DIAGNOSTICS_TEXT_MAX);

    diagnostics_print(diagnostics, isatty(STDERR_FILENO) == 1, &text);
    output_remark_lines(buffer_str(&text));
}

static void summarize(const struct diagnostics *diagnostics, const char *path, struct error *err)
{
    const size_t count = diagnostics->count + diagnostics->left_out;

    error_set(err, TH_E_INVALID, "%s is wrong in %zu place%s", path, count, count == 1 ? "" : "s");
}

/* Whoever reads a log of JSON reads nothing else. */
static void log_refusal(const struct diagnostics *diagnostics, const char *path)
{
    const struct log_options json = {.level = LEVEL_INFO, .format = FORMAT_JSON};
    struct error err;

    summarize(diagnostics, path, &err);
    log_open(&json);
    log_set_process("master");
    rejection_log(diagnostics, err.text, "nothing was started");
    log_close(LAST_WORDS);
}

/* A check is for people, and ends with how much there is to do. */
static enum status refuse_config(const struct daemon *daemon, const char *path)
{
    const struct diagnostics *diagnostics = &daemon->diagnostics;
    const bool is_check = daemon->values[OPTION_CHECK].given;

    if (!is_check && config_wants_json(diagnostics) && !isatty(STDERR_FILENO)) {
        log_refusal(diagnostics, path);
        return STATUS_CONFIG;
    }
    show(diagnostics);
    if (is_check)
        precheck_sum_up(path, diagnostics);
    return STATUS_CONFIG;
}

static struct backend_offers find_offers(const struct daemon *daemon, const char *typed,
                                         const struct config *config)
{
    return backend_offers_find(typed, config, daemon->values[OPTION_CONFIG].given);
}

/* Its URL counts only where nobody has named another backend. */
static void check_backend(void *context, const struct config *config,
                          struct diagnostics *diagnostics)
{
    const struct daemon *daemon = context;
    const struct backend_offers offers =
        find_offers(daemon, daemon->values[OPTION_BACKEND].text, config);
    CLEANUP(backend_done) struct backend backend = {0};
    struct error err;

    if (config->backend && !backend_choose(&offers, config, &backend, &err) &&
        backend_is_from_config(&backend))
        backend_offers_refuse(diagnostics, err.text);
}

static enum status load(struct daemon *daemon, const char *path)
{
    const struct config_reader reader = {CONFIG_TO_RUN, check_backend, daemon};

    if (config_load(path, &reader, &daemon->config, &daemon->diagnostics))
        return STATUS_OK;
    return refuse_config(daemon, path);
}

static enum status load_config(struct daemon *daemon)
{
    const struct option_value *typed = &daemon->values[OPTION_CONFIG];
    const char *path = typed->given ? typed->text : config_find_file();

    if (path)
        return load(daemon, path);
    output_remark("thd: no config: give --config jobs.yaml ('thctl init' writes one)");
    return STATUS_CONFIG;
}

/* From here on the URL is in one place only, where workers wipe it. */
static void forget_url(const char *url)
{
    if (url)
        explicit_bzero((char *)url, strlen(url));
}

static enum status find_backend(struct daemon *daemon)
{
    const struct option_value *typed = &daemon->values[OPTION_BACKEND];
    struct config *config = &daemon->config;
    const struct backend_offers offers = find_offers(daemon, typed->text, config);
    struct error err;

    if (!backend_choose(&offers, config, &daemon->backend, &err))
        return refuse(err.text);
    daemon->invocation.wiped = typed->text;
    forget_url(typed->text);
    forget_url(config->backend);
    config->backend = daemon->backend.url;
    return STATUS_OK;
}

/* What was typed comes before what the config says. */
static void apply_options(const struct daemon *daemon, struct config *config)
{
    const struct option_value *workers = &daemon->values[OPTION_NUM_WORKERS];

    if (workers->given)
        config->pool.num_workers = (int)workers->number;
}

static enum status configure(struct daemon *daemon)
{
    const enum status status = load_config(daemon);

    if (status != STATUS_OK)
        return status;
    apply_options(daemon, &daemon->config);
    return find_backend(daemon);
}

/* ---- a new config, while the pool runs ---- */

static void check_same_backend(void *context, const struct config *config,
                               struct diagnostics *diagnostics)
{
    const struct daemon *daemon = context;
    const struct backend_offers offers = find_offers(daemon, NULL, config);

    if (config->backend && !backend_is_same(&daemon->backend, &offers, config))
        backend_offers_refuse(diagnostics, "cannot change while thd runs: restart it");
}

static bool reread(void *context, const char *path, struct config *config_out,
                   struct diagnostics *diagnostics, struct error *err)
{
    const struct daemon *daemon = context;
    const struct config_reader reader = {CONFIG_TO_RUN, check_same_backend, context};
    const bool is_right = config_load(path, &reader, config_out, diagnostics);

    forget_url(config_out->backend);
    config_out->backend = daemon->backend.url;
    apply_options(daemon, config_out);
    if (!is_right)
        summarize(diagnostics, path, err);
    return is_right;
}

/* ---- the pool ---- */

/* Before anything is started: an address that cannot be had is a mistake in the config. */
static bool listen_for_doors(struct daemon *daemon)
{
    enum door door = DOOR_HTTP;
    struct error err;

    if (listeners_take(&daemon->listeners, LISTENERS_FIRST, &err) &&
        listeners_open(&daemon->listeners, &daemon->config, roles_doors(), &door, &err)) {
        listeners_keep(&daemon->listeners, &daemon->config, NULL);
        return true;
    }
    const char *const keys[] = {door_name(door), "listen", NULL};
    diagnostics_add(&daemon->diagnostics, config_place(&daemon->diagnostics, keys), "%s", err.text);
    return false;
}

static int run_pool(struct daemon *daemon)
{
    struct master_options master = {
        .backend = daemon->backend.url,
        .backend_shown = daemon->backend.shown,
        .backend_is_typed = !backend_is_from_config(&daemon->backend),
        .backend_source = backend_source_name(daemon->backend.source, &daemon->config),
        .backend_passed_over = daemon->backend.passed_over,
        .backend_is_private = backend_is_private(&daemon->backend),
        .once = daemon->values[OPTION_ONCE].given,
        .invocation = daemon->invocation,
        .listeners = &daemon->listeners,
        .reread = reread,
        .context = daemon,
    };
    static const char *const file[] = {NULL};
    struct error err;

    if (!backend_guard(&daemon->backend, &err)) {
        output_remark("%s", err.text);
        return STATUS_FAILED;
    }
    if (!listen_for_doors(daemon))
        return refuse_config(daemon, daemon->config.path);
    if (!generation_new(&daemon->config, roles_holds(&daemon->config), &master.generation, &err)) {
        diagnostics_add(&daemon->diagnostics, config_place(&daemon->diagnostics, file), "%s",
                        err.text);
        return refuse_config(daemon, daemon->config.path);
    }
    diagnostics_done(&daemon->diagnostics);
    return master_run(&master);
}

static enum status check(struct daemon *daemon)
{
    const struct precheck precheck = {
        .config = &daemon->config,
        .diagnostics = &daemon->diagnostics,
        .backend = &daemon->backend,
        .strict = daemon->values[OPTION_STRICT].given,
    };

    return precheck_run(&precheck, show);
}

static int run(struct daemon *daemon, struct words *words)
{
    enum status status = read_options(daemon, words);

    if (status != STATUS_OK)
        return status;
    if (daemon->values[OPTION_HELP].given)
        return print_help();
    if (daemon->values[OPTION_VERSION].given)
        return print_version();
    status = configure(daemon);
    if (status != STATUS_OK)
        return status;
    if (daemon->values[OPTION_CHECK].given)
        return check(daemon);
    return run_pool(daemon);
}

/* For an upgrade, which says so when there is none. */
static void find_invocation(struct invocation *invocation, char *const *argv)
{
    struct error err;

    invocation->argv = argv;
    if (argv[0] && !invocation_find(argv[0], getenv("PATH"), &invocation->path, &err))
        invocation->path = NULL;
}

/* A descriptor that is missing would be taken by the next file opened, and then be written to. */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(STATUS_FAILED);
    }
}

int main(int argc, char **argv)
{
    CLEANUP(daemon_done) struct daemon daemon = {0};
    char **own = argv;

    hold_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (!title_init(argc, argv, &own))
        own = argv; /* titles stay as they are */
    display_init();
    find_invocation(&daemon.invocation, own);

    struct words words = {(const char **)own + 1, argc > 0 ? (size_t)argc - 1 : 0};
    return run(&daemon, &words);
}
