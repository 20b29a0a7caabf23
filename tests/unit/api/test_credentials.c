#include "api/credentials.h"
#include "api/guesses.h"
#include "api/session.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/config.h"
#include "suites.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

#define NOW (1800000000 * USEC_PER_SEC)

static struct http_config config;

static void set(struct token *token, const char *text)
{
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};

    token->is_set = digest_of(bytes, &token->digest);
    ck_assert(token->is_set);
}

static void setup(void)
{
    config = (struct http_config){.listen = ""};
    set(&config.token, "full");
    set(&config.read_token, "look");
}

/* ---- the header ---- */

static const struct {
    const char *header;
    enum right right;
    bool is_wrong;
} headers[] = {
    {"Bearer full", RIGHT_WRITE, false},
    {"bearer full", RIGHT_WRITE, false},
    {"Bearer   full", RIGHT_WRITE, false},
    {"Bearer look", RIGHT_READ, false},
    {"Bearer Full", RIGHT_NONE, true},
    {"Bearer ful", RIGHT_NONE, true},
    {"Bearer fulll", RIGHT_NONE, true},
    {"Bearer full ", RIGHT_NONE, true},
    {"Bearer full, Bearer full", RIGHT_NONE, true},
    {"Bearer\tfull", RIGHT_NONE, true},
    {"Bearer", RIGHT_NONE, true},
    {"Bearer ", RIGHT_NONE, true},
    {"Bearerfull", RIGHT_NONE, true},
    {"B", RIGHT_NONE, true},
    {"", RIGHT_NONE, true},
    {"full", RIGHT_NONE, true},
    {"Basic ZnVsbDo=", RIGHT_NONE, true},
    {"Token full", RIGHT_NONE, true},
    {NULL, RIGHT_NONE, false},
};

START_TEST(a_token_has_its_right)
{
    const struct credentials found = credentials_judge(&config, headers[_i].header, NULL, NOW);

    ck_assert_msg(found.right == headers[_i].right && found.is_wrong == headers[_i].is_wrong, "%s",
                  headers[_i].header);
}
END_TEST

START_TEST(a_token_that_is_not_there_opens_nothing)
{
    config.read_token.is_set = false;
    ck_assert_int_eq(credentials_judge(&config, "Bearer look", NULL, NOW).right, RIGHT_NONE);
    config.read_token.is_set = true;
    config.token.is_set = false;
    ck_assert_int_eq(credentials_judge(&config, "Bearer full", NULL, NOW).right, RIGHT_NONE);
    ck_assert_int_eq(credentials_judge(&config, "Bearer look", NULL, NOW).right, RIGHT_READ);
}
END_TEST

START_TEST(without_a_token_all_may_do_all)
{
    config = (struct http_config){.listen = ""};
    ck_assert_int_eq(credentials_judge(&config, NULL, NULL, NOW).right, RIGHT_WRITE);
    ck_assert_int_eq(credentials_judge(&config, "Bearer x", NULL, NOW).right, RIGHT_WRITE);
}
END_TEST

/* ---- the cookie ---- */

/* What a browser sends of what it was given. */
static void log_in(const struct token *token, struct buffer *cookie)
{
    ck_assert(session_begin(&token->digest, NOW, false, cookie));
    cookie->length = strcspn(cookie->data, ";");
    cookie->data[cookie->length] = '\0';
}

static enum right right_by(const char *cookies, usec_t now)
{
    return credentials_judge(&config, NULL, cookies, now).right;
}

START_TEST(a_cookie_has_the_right_of_its_token_until_its_end)
{
    CLEANUP(buffer_done) struct buffer full = BUFFER(512);
    CLEANUP(buffer_done) struct buffer look = BUFFER(512);
    CLEANUP(buffer_done) struct buffer many = BUFFER(2048);

    log_in(&config.token, &full);
    log_in(&config.read_token, &look);
    ck_assert_int_eq(right_by(full.data, NOW), RIGHT_WRITE);
    ck_assert_int_eq(right_by(look.data, NOW), RIGHT_READ);
    ck_assert_int_eq(right_by(full.data, NOW + SESSION_LIFE - USEC_PER_SEC), RIGHT_WRITE);
    ck_assert_int_eq(right_by(full.data, NOW + SESSION_LIFE), RIGHT_NONE);
    ck_assert(!credentials_judge(&config, NULL, full.data, NOW + SESSION_LIFE).is_wrong);
    buffer_printf(&many, "theme=dark; taskharbor_0=1.2; %s; %s", look.data, full.data);
    ck_assert_int_eq(right_by(many.data, NOW), RIGHT_WRITE);
    ck_assert_int_eq(credentials_judge(&config, "Bearer x", full.data, NOW).right, RIGHT_NONE);
    set(&config.token, "another");
    ck_assert_int_eq(right_by(full.data, NOW), RIGHT_NONE);
}
END_TEST

START_TEST(no_byte_of_a_cookie_can_be_changed)
{
    CLEANUP(buffer_done) struct buffer cookie = BUFFER(512);

    log_in(&config.token, &cookie);
    const size_t value = strcspn(cookie.data, "=") + 1;

    for (size_t i = value; i < cookie.length; i++) {
        const char before = cookie.data[i];

        cookie.data[i] = before == '1' ? '2' : '1';
        const struct credentials found = credentials_judge(&config, NULL, cookie.data, NOW);

        ck_assert_msg(found.right == RIGHT_NONE && found.is_wrong, "%s", cookie.data);
        cookie.data[i] = before;
    }
    cookie.data[cookie.length - 1] = '\0';
    ck_assert(credentials_judge(&config, NULL, cookie.data, NOW).is_wrong);
    cookie.data[value] = '\0';
    ck_assert(credentials_judge(&config, NULL, cookie.data, NOW).is_wrong);
}
END_TEST

START_TEST(a_cookie_is_kept_from_scripts_other_sites_and_plain_text)
{
    CLEANUP(buffer_done) struct buffer plain = BUFFER(512);
    CLEANUP(buffer_done) struct buffer secure = BUFFER(512);
    CLEANUP(buffer_done) struct buffer over = BUFFER(512);

    ck_assert(session_begin(&config.token.digest, NOW, false, &plain));
    ck_assert(session_begin(&config.token.digest, NOW, true, &secure));
    ck_assert(session_end(&config.token.digest, false, &over));
    ck_assert_str_eq(strchr(plain.data, ';'),
                     "; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict");
    ck_assert_str_eq(strchr(secure.data, ';'),
                     "; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure");
    ck_assert_str_eq(strchr(over.data, ';'), "; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    ck_assert_int_eq(strncmp(plain.data, over.data, strcspn(over.data, "=") + 1), 0);
}
END_TEST

/* ---- guesses ---- */

static struct sockaddr_storage peer_of(const char *text)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNIX};

    if (inet_pton(AF_INET, text, &((struct sockaddr_in *)&peer)->sin_addr) == 1)
        peer.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&peer)->sin6_addr) == 1)
        peer.ss_family = AF_INET6;
    return peer;
}

static bool guess(struct guesses *guesses, const char *address, usec_t now)
{
    const struct sockaddr_storage peer = peer_of(address);

    return guesses_add(guesses, (const struct sockaddr *)&peer, now);
}

static const struct {
    const char *rule;
    const char *first, *second;
    bool is_same;
} addresses[] = {
    {"an address", "10.0.0.1", "10.0.0.1", true},
    {"its neighbour", "10.0.0.1", "10.0.0.2", false},
    {"the same as IPv6", "10.0.0.1", "::ffff:10.0.0.1", true},
    {"another of the same network", "fd00::1", "fd00::2", true},
    {"another network", "fd00::1", "fd00:0:0:1::1", false},
    {"sockets with a path", "a", "b", true},
};

START_TEST(ten_guesses_a_second_are_heard_from_an_address)
{
    struct guesses guesses = {0};

    for (int i = 0; i < GUESSES_A_SECOND; i++)
        ck_assert(!guess(&guesses, addresses[_i].first, NOW));
    ck_assert(guess(&guesses, addresses[_i].first, NOW + USEC_PER_SEC - 1));
    ck_assert_msg(guess(&guesses, addresses[_i].second, NOW) == addresses[_i].is_same, "%s",
                  addresses[_i].rule);
    ck_assert(!guess(&guesses, addresses[_i].first, NOW + USEC_PER_SEC));
}
END_TEST

Suite *credentials_suite(void)
{
    Suite *suite = suite_create("api/credentials");
    TCase *tests = pure_case("credentials");

    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, a_token_has_its_right, 0, COUNT_OF(headers));
    tcase_add_test(tests, a_token_that_is_not_there_opens_nothing);
    tcase_add_test(tests, without_a_token_all_may_do_all);
    tcase_add_test(tests, a_cookie_has_the_right_of_its_token_until_its_end);
    tcase_add_test(tests, no_byte_of_a_cookie_can_be_changed);
    tcase_add_test(tests, a_cookie_is_kept_from_scripts_other_sites_and_plain_text);
    tcase_add_loop_test(tests, ten_guesses_a_second_are_heard_from_an_address, 0,
                        COUNT_OF(addresses));
    suite_add_tcase(suite, tests);
    return suite;
}
