/*
 * error.h - a code to branch on, a text to show.
 *
 * A call that can fail returns bool and fills the caller's struct error. The text grows from the
 * inside out: "settle 12 jobs: sqlite: /srv/jobs.db: disk is full". All functions here return
 * false, so that failing is one line.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/base.h"

#include <taskharbor/error.h>

#define ERROR_TEXT_SIZE 1024

struct error {
    enum th_error_code code;
    char text[ERROR_TEXT_SIZE]; /* cut with "..." when longer */
};

bool error_set(struct error *err, enum th_error_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The same, followed by ": " and what errno means. */
bool error_errno(struct error *err, enum th_error_code code, int number, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Puts "<text>: " before what is there; the code stays. */
bool error_prefix(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

bool error_no_memory(struct error *err);

/* "lease_mismatch" for TH_E_LEASE_MISMATCH: the word that logs, JSON and HTTP use. */
const char *error_code_name(enum th_error_code code);

#endif
