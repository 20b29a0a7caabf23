/*
 * folder.c - a folder with configs, and what loading one of them says.
 */
#include "config/folder.h"

#include "base/buffer.h"
#include "base/cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRINTED_MAX ((size_t)1 << 20)

static char path[PATH_MAX];

void folder_setup(void)
{
    snprintf(path, sizeof path, "%s/config-XXXXXX", getenv("TMPDIR"));
    ck_assert_ptr_nonnull(mkdtemp(path));
    ck_assert_int_eq(chdir(path), 0);
}

void folder_teardown(void)
{
    char command[PATH_MAX + 16];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -r '%s'", path);
    ck_assert_int_eq(system(command), 0);
}

const char *folder_path(void)
{
    return path;
}

void folder_write(const char *name, const char *text)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/');

    if (slash) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
        mkdir(folder, 0755);
    }
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

void folder_load(struct config *config_out)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(buffer_done) struct buffer printed = BUFFER(PRINTED_MAX);
    const struct config_reader reader = {.use = CONFIG_TO_ASK};
    const bool ok = config_load("jobs.yaml", &reader, config_out, &diagnostics);

    diagnostics_print(&diagnostics, false, &printed);
    ck_assert_msg(ok, "%s", buffer_str(&printed));
}

void folder_load_text(const char *text, struct config *config_out)
{
    folder_write("jobs.yaml", text);
    folder_load(config_out);
}

static void expect(enum config_use use, const char *rule, const char *errors)
{
    CLEANUP(diagnostics_done) struct diagnostics diagnostics = {0};
    CLEANUP(config_done) struct config config = {0};
    CLEANUP(buffer_done) struct buffer printed = BUFFER(PRINTED_MAX);
    const struct config_reader reader = {.use = use};
    const bool ok = config_load("jobs.yaml", &reader, &config, &diagnostics);

    diagnostics_print(&diagnostics, false, &printed);
    ck_assert_msg(strcmp(buffer_str(&printed), errors) == 0, "%s:\nexpected %s\nnot %s", rule,
                  errors, buffer_str(&printed));
    ck_assert_msg(ok == (errors[0] == '\0'), "%s", rule);
}

void folder_expect(const char *rule, const char *errors)
{
    expect(CONFIG_TO_ASK, rule, errors);
}

void folder_expect_for(const char *rule, const char *text, const char *errors)
{
    folder_write("jobs.yaml", text);
    expect(CONFIG_TO_ASK, rule, errors);
}

void folder_expect_to_run(const char *rule, const char *text, const char *errors)
{
    folder_write("jobs.yaml", text);
    expect(CONFIG_TO_RUN, rule, errors);
}
