/*
 * main.c - runs the unit tests of all folders, or of those that are named, or those of one suite:
 *
 *     unit-tests
 *     unit-tests base job
 *     CK_RUN_SUITE=job/retry unit-tests
 *
 * ctest runs each folder by itself: the leak checker, at the end of every case, looks through all
 * that the runner knows.
 *
 * $TMPDIR is a folder of this run, which is removed at its end: a case that fails or hangs is
 * killed before it has cleaned up.
 */
#include "suites.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITES_MAX 32

/* By folder, in the order of the layers; tests/CMakeLists.txt has these names too. */
/* clang-format off */
static const struct {
    const char *name;
    Suite *(*suites[SUITES_MAX])(void);
} folders[] = {
    {"base", {
        arena_suite, backoff_suite, base64_suite, buffer_suite, calendar_suite, clock_suite,
        decimal_suite, digest_suite, error_suite, excerpt_suite, gist_suite, io_suite, json_suite, json_tree_suite,
        json_writer_suite, log_field_suite, log_histogram_suite, log_line_suite, log_sink_suite, log_suite, metric_text_suite,
        random_suite, signal_name_suite, text_suite, timestamp_suite, units_suite, uuid_suite,
        zone_load_suite, zone_suite}},
    {"job", {
        cron_describe_suite, cron_due_suite, cron_parse_suite, cron_suite, growth_suite, headers_suite, idempotency_suite, aside_suite,
        cron_describe_suite, cron_due_suite, cron_parse_suite, cron_suite, headers_suite, idempotency_suite, on_dead_suite, aside_suite,
        job_json_suite, job_suite, keyed_suite, lease_suite, rate_suite, retry_suite,
        settlement_suite, state_suite, stop_reason_suite, tags_suite, error_shape_suite, timekeeper_suite, why_suite}},
    {"config", {
        config_suite, diagnostics_suite, environment_suite, field_suite, handler_match_suite,
        include_suite, plugin_id_suite, reference_suite, token_file_suite, yaml_tree_suite}},
    {"process", {
        account_suite, known_clocks_suite, lease_table_suite, loop_suite, message_suite, meters_suite,
        name_table_suite, news_ring_suite, notify_suite, orphans_suite, outage_suite, print_file_suite,
        process_suite, recent_runs_suite, result_suite, result_ring_suite,
        scoreboard_suite, spawn_suite, start_board_suite, task_suite, task_ring_suite, title_suite}},
    {"http", {
        http_exchange_suite, http_patience_suite, http_pure_suite, http_refusals_suite, http_server_suite,
        http_stream_suite}},
    {"door", {door_call_suite, calls_suite, job_query_suite, pack_suite, peers_suite}},
    {"api", {accept_suite, credentials_suite, link_suite, openapi_suite, origin_suite}},
    {"browse", {jobs_csv_suite}},
    {"door", {door_call_suite, calls_suite, pack_suite, peers_suite, remote_calls_suite}},
    {"api", {credentials_suite, openapi_suite, origin_suite}},
    {"worker", {
        call_suite, command_suite, execution_suite, output_suite, plugin_suite, program_suite,
        resident_line_suite, resident_many_suite, resident_suite, restarts_suite, schema_limits_suite,
        schema_pattern_suite, schema_public_suite, schema_suite, shell_words_suite, speech_suite, steering_suite, tail_suite,
        variables_suite}},
    {"store", {
        anchor_suite, conninfo_suite, defect_suite, listing_suite, lists_suite, redis_address_suite,
        scan_start_suite,
        redis_class_suite, redis_cluster_suite, redis_names_suite, redis_record_suite,
        redis_show_suite, scheme_suite, scratch_suite, sqlite_seqs_suite, sqlstate_suite, url_suite}},
    {"dispatcher", {
        crash_outcome_suite, dispatcher_state_suite, held_jobs_suite, interleave_suite, outbox_suite, queues_suite, room_suite,
        starts_suite}},
    {"periodic", {
        beat_suite, crontab_suite, gone_handler_suite, offer_suite, periodic_suite, progress_sent_suite, promote_suite, reap_suite, recent_suite,
        services_suite, status_suite}},
    {"master", {
        generation_suite, invocation_suite, ledger_suite, address_suite, listeners_suite, overrun_suite, pool_name_suite,
        pool_state_suite, pulse_suite, reload_suite, restart_suite, roles_suite, backend_suite}},
    {"client", {pool_find_suite, pool_status_suite, offers_suite}},
    {"cli", {options_suite}},
    {"thctl", {
        limits_suite, pages_suite, top_data_suite, top_order_suite,
        top_room_suite, top_view_suite, when_suite}},
};
/* clang-format on */

static const char pure[] = "pure";

TCase *pure_case(const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_set_tags(tests, pure);
    return tests;
}

bool under_valgrind(void)
{
    return getenv("TH_VALGRIND");
}

static void add_folder(SRunner *runner, size_t folder)
{
    for (size_t i = 0; folders[folder].suites[i]; i++)
        srunner_add_suite(runner, folders[folder].suites[i]());
}

/* False when there is none of that name; NULL is all of them. */
static bool add_named(SRunner *runner, const char *name)
{
    bool found = false;

    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        if (name && strcmp(folders[i].name, name) != 0)
            continue;
        add_folder(runner, i);
        found = true;
    }
    return found;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int run_in_folder(SRunner *runner)
{
    char folder[] = "/tmp/th-unit-XXXXXX";

    if (!mkdtemp(folder) || setenv("TMPDIR", folder, 1)) {
        perror("unit-tests: make a folder");
        return EXIT_FAILURE;
    }
    srunner_run_tagged(runner, NULL, NULL, NULL, pure, CK_ENV);
    srunner_set_fork_status(runner, CK_NOFORK); /* last: what a failed one leaks is in no other */
    srunner_run_tagged(runner, NULL, NULL, pure, NULL, CK_ENV);
    const bool is_removed = nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0;
    return is_removed && srunner_ntests_failed(runner) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What was named, or everything. */
static bool add_all(SRunner *runner, char **names)
{
    bool found = names[0] || add_named(runner, NULL);

    for (size_t i = 0; names[i]; i++) {
        if (!add_named(runner, names[i])) {
            fprintf(stderr, "unit-tests: there are no tests of a folder '%s'\n", names[i]);
            found = false;
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(NULL);

    (void)argc;
    const int code = add_all(runner, argv + 1) ? run_in_folder(runner) : 2;
    srunner_free(runner);
    return code;
}
