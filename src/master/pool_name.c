/*
 * pool_name.c - what a pool is called.
 */
#include "master/pool_name.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define ALLOWED     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-"
#define RANDOM_SIZE sizeof ".01234567"
#define PID_SIZE    sizeof "-9223372036854775808"
#define SHOWN_MAX   (POOL_NAME_MAX - (int)RANDOM_SIZE + 1)

/* The end of a host's name is what is cut: the pid tells pools of one machine apart. */
static void name_by_host(struct pool_name *name, const char *host, int64_t pid)
{
    char number[PID_SIZE];
    const int length = snprintf(number, sizeof number, "-%" PRId64, pid);

    snprintf(name->shown, sizeof name->shown, "%.*s%s", SHOWN_MAX - length,
             host[0] == '\0' ? "host" : host, number);
}

static void replace_forbidden(char *text)
{
    for (text += strspn(text, ALLOWED); *text != '\0'; text += strspn(text, ALLOWED))
        *text = '-';
}

struct pool_name pool_name_make(const char *configured, const char *host, int64_t pid,
                                uint32_t random)
{
    struct pool_name name = {0};

    if (text_equal(configured, "auto"))
        name_by_host(&name, host, pid);
    else
        snprintf(name.shown, sizeof name.shown, "%.*s", SHOWN_MAX, configured);
    replace_forbidden(name.shown);
    snprintf(name.stored, sizeof name.stored, "%.*s.%08" PRIx32, SHOWN_MAX, name.shown, random);
    return name;
}
