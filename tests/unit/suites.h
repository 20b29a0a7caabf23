/*
 * suites.h - every unit test suite, in the order of the layers.
 */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include "base/base.h"

#include <check.h>

/* For tests that leave their process as it was and cannot end it: all of them share one. The others
 * have one each, which takes longer to make, under the sanitizers, than most tests take. */
TCase *pure_case(const char *name);

/* Whether scripts/sanitize runs them by valgrind: it keeps the limits and the arguments of a
 * process to itself, so there is nothing to see of them. */
bool under_valgrind(void);

/* base */
Suite *arena_suite(void);
Suite *backoff_suite(void);
Suite *base64_suite(void);
Suite *buffer_suite(void);
Suite *calendar_suite(void);
Suite *clock_suite(void);
Suite *decimal_suite(void);
Suite *digest_suite(void);
Suite *error_suite(void);
Suite *excerpt_suite(void);
Suite *gist_suite(void);
Suite *io_suite(void);
Suite *json_suite(void);
Suite *json_tree_suite(void);
Suite *json_writer_suite(void);
Suite *log_field_suite(void);
Suite *log_histogram_suite(void);
Suite *log_line_suite(void);
Suite *log_sink_suite(void);
Suite *log_suite(void);
Suite *metric_text_suite(void);
Suite *random_suite(void);
Suite *signal_name_suite(void);
Suite *text_suite(void);
Suite *timestamp_suite(void);
Suite *units_suite(void);
Suite *uuid_suite(void);
Suite *zone_load_suite(void);
Suite *zone_suite(void);

/* job */
Suite *cron_describe_suite(void);
Suite *cron_due_suite(void);
Suite *cron_parse_suite(void);
Suite *cron_suite(void);
Suite *error_shape_suite(void);
Suite *headers_suite(void);
Suite *idempotency_suite(void);
Suite *on_dead_suite(void);
Suite *aside_suite(void);
Suite *start_board_suite(void);
Suite *job_json_suite(void);
Suite *job_suite(void);
Suite *keyed_suite(void);
Suite *lease_suite(void);
Suite *rate_suite(void);
Suite *retry_suite(void);
Suite *settlement_suite(void);
Suite *state_suite(void);
Suite *stop_reason_suite(void);
Suite *tags_suite(void);
Suite *timekeeper_suite(void);
Suite *why_suite(void);

/* config */
Suite *config_suite(void);
Suite *diagnostics_suite(void);
Suite *environment_suite(void);
Suite *field_suite(void);
Suite *handler_match_suite(void);
Suite *include_suite(void);
Suite *plugin_id_suite(void);
Suite *reference_suite(void);
Suite *token_file_suite(void);
Suite *yaml_tree_suite(void);

/* process */
Suite *account_suite(void);
Suite *news_ring_suite(void);
Suite *known_clocks_suite(void);
Suite *lease_table_suite(void);
Suite *loop_suite(void);
Suite *message_suite(void);
Suite *meters_suite(void);
Suite *name_table_suite(void);
Suite *notify_suite(void);
Suite *orphans_suite(void);
Suite *outage_suite(void);
Suite *print_file_suite(void);
Suite *process_suite(void);
Suite *recent_runs_suite(void);
Suite *result_suite(void);
Suite *result_ring_suite(void);
Suite *scoreboard_suite(void);
Suite *spawn_suite(void);
Suite *task_suite(void);
Suite *task_ring_suite(void);
Suite *title_suite(void);

/* http */
Suite *http_exchange_suite(void);
Suite *http_patience_suite(void);
Suite *http_pure_suite(void);
Suite *http_refusals_suite(void);
Suite *http_server_suite(void);
Suite *http_stream_suite(void);

/* door */
Suite *calls_suite(void);
Suite *door_call_suite(void);
Suite *job_query_suite(void);
Suite *pack_suite(void);
Suite *peers_suite(void);
Suite *remote_calls_suite(void);

/* api */
Suite *accept_suite(void);
Suite *credentials_suite(void);
Suite *link_suite(void);
Suite *openapi_suite(void);
Suite *origin_suite(void);

/* browse */
Suite *jobs_csv_suite(void);

/* worker */
Suite *call_suite(void);
Suite *command_suite(void);
Suite *execution_suite(void);
Suite *output_suite(void);
Suite *plugin_suite(void);
Suite *program_suite(void);
Suite *resident_line_suite(void);
Suite *resident_many_suite(void);
Suite *resident_suite(void);
Suite *restarts_suite(void);
Suite *schema_limits_suite(void);
Suite *schema_pattern_suite(void);
Suite *schema_public_suite(void);
Suite *schema_suite(void);
Suite *shell_words_suite(void);
Suite *speech_suite(void);
Suite *steering_suite(void);
Suite *tail_suite(void);
Suite *variables_suite(void);

/* store */
Suite *anchor_suite(void);
Suite *conninfo_suite(void);
Suite *defect_suite(void);
Suite *listing_suite(void);
Suite *lists_suite(void);
Suite *redis_address_suite(void);
Suite *redis_class_suite(void);
Suite *redis_cluster_suite(void);
Suite *redis_names_suite(void);
Suite *redis_record_suite(void);
Suite *redis_show_suite(void);
Suite *scan_start_suite(void);
Suite *scheme_suite(void);
Suite *scratch_suite(void);
Suite *sqlite_seqs_suite(void);
Suite *sqlstate_suite(void);
Suite *url_suite(void);

/* dispatcher */
Suite *crash_outcome_suite(void);
Suite *dispatcher_state_suite(void);
Suite *held_jobs_suite(void);
Suite *interleave_suite(void);
Suite *outbox_suite(void);
Suite *queues_suite(void);
Suite *room_suite(void);
Suite *starts_suite(void);

/* periodic */
Suite *beat_suite(void);
Suite *crontab_suite(void);
Suite *gone_handler_suite(void);
Suite *offer_suite(void);
Suite *periodic_suite(void);
Suite *progress_sent_suite(void);
Suite *promote_suite(void);
Suite *reap_suite(void);
Suite *recent_suite(void);
Suite *services_suite(void);
Suite *status_suite(void);

/* master */
Suite *generation_suite(void);
Suite *invocation_suite(void);
Suite *ledger_suite(void);
Suite *address_suite(void);
Suite *listeners_suite(void);
Suite *overrun_suite(void);
Suite *pool_name_suite(void);
Suite *pool_state_suite(void);
Suite *pulse_suite(void);
Suite *reload_suite(void);
Suite *restart_suite(void);
Suite *roles_suite(void);

/* thd */
Suite *backend_suite(void);

/* client */
Suite *pool_find_suite(void);
Suite *pool_status_suite(void);
Suite *offers_suite(void);

/* cli */
Suite *options_suite(void);

/* thctl */
Suite *limits_suite(void);
Suite *growth_suite(void);
Suite *pages_suite(void);
Suite *top_data_suite(void);
Suite *top_order_suite(void);
Suite *top_room_suite(void);
Suite *top_view_suite(void);
Suite *when_suite(void);

#endif
