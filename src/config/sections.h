/*
 * sections.h - the tables of the sections of jobs.yaml.
 *
 * Each ends with a row without key.
 */
#ifndef CONFIG_SECTIONS_H
#define CONFIG_SECTIONS_H

#include "config/field.h"

extern const struct field top_fields[];       /* struct config; server_fields.c */
extern const struct field pool_fields[];      /* struct pool_config */
extern const struct field queue_fields[];     /* struct queue_config, per queue */
extern const struct field defaults_fields[];  /* struct defaults_config; handler_fields.c */
extern const struct field handler_fields[];   /* struct handler_config, per handler */
extern const struct field retry_fields[];     /* struct retry_policy; handler_fields.c */
extern const struct field cron_fields[];      /* struct cron_config, per entry */
extern const struct field http_fields[];      /* struct http_config; server_fields.c */
extern const struct field faktory_fields[];   /* struct faktory_config; server_fields.c */
extern const struct field log_fields[];       /* struct log_config; server_fields.c */
extern const struct field retention_fields[]; /* struct retention_config; server_fields.c */

#endif
