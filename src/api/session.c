/*
 * session.c - the cookie of whoever has logged in.
 */
#include "api/session.h"

#include "base/buffer.h"
#include "base/digest.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define PREFIX      "taskharbor_"
#define NAME_DIGITS 16
#define NAME_SIZE   (sizeof PREFIX + NAME_DIGITS)
#define END_DIGITS  12
#define VALUE_SIZE  (END_DIGITS + 1 + DIGEST_HEX_SIZE)

static bool sign(const struct digest *token, const char *text, char hex[DIGEST_HEX_SIZE])
{
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};
    struct digest signature;

    if (!digest_keyed(token, bytes, &signature))
        return false;
    digest_hex(&signature, hex);
    return true;
}

static bool write_name(const struct digest *token, char name[NAME_SIZE])
{
    char hex[DIGEST_HEX_SIZE];

    if (!sign(token, "name of the cookie", hex))
        return false;
    snprintf(name, NAME_SIZE, PREFIX "%.*s", NAME_DIGITS, hex);
    return true;
}

static bool write_value(const struct digest *token, int64_t end, char value[VALUE_SIZE])
{
    char signed_text[32], hex[DIGEST_HEX_SIZE];

    snprintf(signed_text, sizeof signed_text, "until %" PRId64, end);
    if (!sign(token, signed_text, hex))
        return false;
    snprintf(value, VALUE_SIZE, "%" PRId64 ".%s", end, hex);
    return true;
}

/* Of the whole host: what proxies put before our paths is not known here. */
static void write_cookie(struct buffer *cookie, const char *name, const char *value, int64_t life,
                         bool is_secure)
{
    buffer_printf(cookie, "%s=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s", name,
                  value, life, is_secure ? "; Secure" : "");
}

bool session_begin(const struct digest *token, usec_t now, bool is_secure, struct buffer *cookie)
{
    const int64_t life = SESSION_LIFE / USEC_PER_SEC;
    char name[NAME_SIZE], value[VALUE_SIZE];

    if (!write_name(token, name) || !write_value(token, now / USEC_PER_SEC + life, value))
        return false;
    write_cookie(cookie, name, value, life, is_secure);
    return !cookie->failed;
}

bool session_end(const struct digest *token, bool is_secure, struct buffer *cookie)
{
    char name[NAME_SIZE];

    if (!write_name(token, name))
        return false;
    write_cookie(cookie, name, "", 0, is_secure);
    return !cookie->failed;
}

/* The value of a cookie in "a=1; b=2"; absent without it. */
static struct bytes find(const char *cookies, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = cookies; *at; at += strcspn(at, ";"), at += strspn(at, "; \t")) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return (struct bytes){(const unsigned char *)at + length + 1,
                                  strcspn(at + length + 1, "; \t")};
    }
    return (struct bytes){0};
}

static enum session_state check_value(const struct digest *token, const char *value, usec_t now)
{
    char copy[VALUE_SIZE], right[VALUE_SIZE];
    const size_t digits = strcspn(value, ".");
    struct digest a, b;
    int64_t end;

    snprintf(copy, sizeof copy, "%.*s", (int)digits, value);
    if (digits > END_DIGITS || !text_to_int(copy, 0, INT64_MAX, &end) ||
        !write_value(token, end, right))
        return SESSION_FORGED;
    const bool are_made =
        digest_of((struct bytes){(const unsigned char *)right, strlen(right)}, &a) &&
        digest_of((struct bytes){(const unsigned char *)value, strlen(value)}, &b);

    if (!are_made || !digest_equal(&a, &b))
        return SESSION_FORGED;
    return end > now / USEC_PER_SEC ? SESSION_OPEN : SESSION_OVER;
}

enum session_state session_check(const struct digest *token, const char *cookies, usec_t now)
{
    char name[NAME_SIZE], value[VALUE_SIZE + 1];

    if (!cookies || !write_name(token, name))
        return SESSION_ABSENT;
    const struct bytes found = find(cookies, name);

    if (!found.data)
        return SESSION_ABSENT;
    if (found.length >= VALUE_SIZE)
        return SESSION_FORGED;
    snprintf(value, sizeof value, "%.*s", (int)found.length, (const char *)found.data);
    return check_value(token, value, now);
}
