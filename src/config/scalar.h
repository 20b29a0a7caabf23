/*
 * scalar.h - one scalar of the config as the kind of value that its key wants; for value.c.
 *
 * Each returns false after it has added what is wrong to the diagnostics, at the node's place.
 */
#ifndef CONFIG_SCALAR_H
#define CONFIG_SCALAR_H

#include "base/base.h"
#include "config/field.h"

/* What is being read. */
struct reader {
    const struct field_scope *scope;
    const struct field *field;
    const char *name; /* "pool.lease" */
};

/* All return false, except reader_expect_scalar() for a scalar. */
bool reader_refuse(const struct reader *reader, const struct node *node, const char *reason);
bool reader_refuse_kind(const struct reader *reader, const struct node *node);
bool reader_expect_scalar(const struct reader *reader, const struct node *node);

bool scalar_count(const struct reader *reader, const struct node *node, int *count_out);
bool scalar_fraction(const struct reader *reader, const struct node *node, double *value_out);
bool scalar_mode(const struct reader *reader, const struct node *node, int *mode_out);
bool scalar_duration(const struct reader *reader, const struct node *node, usec_t *duration_out);
bool scalar_size(const struct reader *reader, const struct node *node, bytes_t *size_out);
bool scalar_rate(const struct reader *reader, const struct node *node, struct units_rate *rate_out);
bool scalar_text(const struct reader *reader, const struct node *node, const char **text_out);
bool scalar_name(const struct reader *reader, const struct node *node, const char **name_out);
bool scalar_path(const struct reader *reader, const struct node *node, const char **path_out);
bool scalar_flag(const struct reader *reader, const struct node *node, bool *flag_out);
bool scalar_choice(const struct reader *reader, const struct node *node, unsigned *index_out);

#endif
