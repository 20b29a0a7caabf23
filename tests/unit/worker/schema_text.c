/*
 * schema_text.c - schemas that tests write down where they need them.
 */
#include "schema_text.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "worker/schema.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PATH_SIZE 64

bool schema_text_load(struct bytes text, struct arena *arena, const struct schema **schema_out,
                      struct error *err)
{
    AUTO_CLOSE int fd = memfd_create("schema", MFD_CLOEXEC);
    char path[PATH_SIZE];

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text.data, text.length), (ssize_t)text.length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (schema_load(path, arena, schema_out, err))
        return true;
    const size_t length = strlen(path);
    if (text_starts_with(err->text, path) && err->text[length] == ':')
        memmove(err->text, err->text + length + 2, strlen(err->text + length + 2) + 1);
    return false;
}

const struct schema *schema_text_of(const char *text, struct arena *arena)
{
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};
    const struct schema *schema = NULL;
    struct error err = {0};

    ck_assert_msg(schema_text_load(bytes, arena, &schema, &err), "%s: %s", text, err.text);
    return schema;
}

const char *schema_text_check(const struct schema *schema, const char *payload)
{
    static struct error err;

    err = (struct error){0};
    if (schema_check(schema, (struct bytes){(const unsigned char *)payload, strlen(payload)}, &err))
        return "";
    ck_assert_int_eq(err.code, TH_E_INVALID);
    return err.text;
}
