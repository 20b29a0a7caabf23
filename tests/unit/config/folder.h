/*
 * folder.h - a folder with configs, and what loading one of them says.
 *
 * The test's process goes into the folder, so that messages have short names.
 */
#ifndef TESTS_UNIT_CONFIG_FOLDER_H
#define TESTS_UNIT_CONFIG_FOLDER_H

#include "config/config.h"

#include <check.h>

/* A checked fixture: makes the folder and goes there; leaves and removes it. */
void folder_setup(void);
void folder_teardown(void);

/* Where it is, absolute. */
const char *folder_path(void);

/* Writes a file, with the folder it is in. */
void folder_write(const char *name, const char *text);

/* Loads jobs.yaml, which must be right. */
void folder_load(struct config *config_out);

/* The same, written first. */
void folder_load_text(const char *text, struct config *config_out);

/* Loads jobs.yaml and compares what is wrong with it, line by line; "" is nothing. */
void folder_expect(const char *rule, const char *errors);
void folder_expect_for(const char *rule, const char *text, const char *errors);

/* The same for a pool; the others only ask. */
void folder_expect_to_run(const char *rule, const char *text, const char *errors);

#endif
