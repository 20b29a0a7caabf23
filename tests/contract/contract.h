/*
 * contract.h - every suite of the contract.
 */
#ifndef TESTS_CONTRACT_CONTRACT_H
#define TESTS_CONTRACT_CONTRACT_H

#include <check.h>

Suite *checks_suite(void);
Suite *enqueue_suite(void);
Suite *bulk_suite(void);
Suite *dead_groups_suite(void);
Suite *groups_suite(void);
Suite *idempotency_suite(void);
Suite *order_suite(void);
Suite *lease_suite(void);
Suite *reclaim_suite(void);
Suite *clock_suite(void);
Suite *extend_suite(void);
Suite *watch_suite(void);
Suite *exchange_suite(void);
Suite *overlap_suite(void);
Suite *ack_suite(void);
Suite *batch_suite(void);
Suite *batch_told_suite(void);
Suite *retry_suite(void);
Suite *run_now_suite(void);
Suite *dead_suite(void);
Suite *aside_suite(void);
Suite *bring_back_suite(void);
Suite *keyed_suite(void);
Suite *blocked_suite(void);
Suite *cancel_suite(void);
Suite *admin_suite(void);
Suite *list_suite(void);
Suite *pages_suite(void);
Suite *failures_suite(void);
Suite *extras_suite(void);
Suite *claims_suite(void);
Suite *pools_suite(void);
Suite *limits_suite(void);
Suite *full_suite(void);
Suite *rate_suite(void);
Suite *faults_suite(void);
Suite *cron_suite(void);
Suite *doors_suite(void);
Suite *schema_suite(void);
Suite *wait_suite(void);
Suite *states_suite(void);
Suite *held_suite(void);
Suite *file_suite(void);
Suite *links_suite(void);
Suite *damage_suite(void);
Suite *redis_batch_suite(void);
Suite *redis_pages_suite(void);
Suite *model_suite(void);
Suite *producers_suite(void);
Suite *races_suite(void);
Suite *vectors_suite(void);

/* A group of cases with time enough for the slowest: no case is about how long it takes. */
TCase *contract_group(Suite *suite, const char *name);

#endif
