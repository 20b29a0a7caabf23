#include "store/redis/net/address.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>
#include <string.h>

#define PREFIX_64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HOSTS_8   "h,h,h,h,h,h,h,h,"

static bool parse(const char *text, struct redis_address *address_out, struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};

    ck_assert_msg(url_parse(text, &url, err), "%s", err->text);
    return redis_address_parse(&url, address_out, err);
}

static bool same(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

static const struct {
    const char *rule, *url;
    const char *host;
    int port, database;
    const char *user, *password;
} servers[] = {
    {"a host is enough", "redis://db", "db", 6379, 0, NULL, NULL},
    {"also with a slash at the end", "redis://db/", "db", 6379, 0, NULL, NULL},
    {"a port", "redis://db:6380", "db", 6380, 0, NULL, NULL},
    {"the highest port", "redis://db:65535", "db", 65535, 0, NULL, NULL},
    {"a database", "redis://db/3", "db", 6379, 3, NULL, NULL},
    {"port and database", "redis://db:6380/3", "db", 6380, 3, NULL, NULL},
    {"an IPv4 address", "redis://10.0.0.1:6380", "10.0.0.1", 6380, 0, NULL, NULL},
    {"an IPv6 address", "redis://[::1]", "::1", 6379, 0, NULL, NULL},
    {"an IPv6 address with a port", "redis://[fe80::1]:6380/2", "fe80::1", 6380, 2, NULL, NULL},
    {"a password alone", "redis://:sesame@db", "db", 6379, 0, NULL, "sesame"},
    {"a user with a password", "redis://ada:sesame@db:1/2", "db", 1, 2, "ada", "sesame"},
    {"an empty password is one", "redis://ada:@db", "db", 6379, 0, "ada", ""},
    {"what a URL keeps for itself is escaped", "redis://a%3Ab:s%2F%40%3A%3F%25@db", "db", 6379, 0,
     "a:b", "s/@:?%"},
    {"a colon needs no escape", "redis://ada:open:sesame@db", "db", 6379, 0, "ada", "open:sesame"},
    {"nor an at sign", "redis://:open@sesame@db", "db", 6379, 0, NULL, "open@sesame"},
    {"a host with an escape", "redis://d%62", "db", 6379, 0, NULL, NULL},
    {"a password before an IPv6 address", "redis://:x@[::1]:6380", "::1", 6380, 0, NULL, "x"},
};

START_TEST(a_url_says_where_the_server_is_and_who_we_are)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    const char *rule = servers[_i].rule;
    struct error err = {0};

    ck_assert_msg(parse(servers[_i].url, &address, &err), "%s: %s", rule, err.text);
    ck_assert_uint_eq(address.host_count, 1);
    ck_assert_msg(same(address.hosts[0].name, servers[_i].host), "%s", rule);
    ck_assert_msg(address.hosts[0].port == servers[_i].port, "%s", rule);
    ck_assert_msg(address.database == servers[_i].database, "%s", rule);
    ck_assert_msg(same(address.user, servers[_i].user), "%s", rule);
    ck_assert_msg(same(address.password, servers[_i].password), "%s", rule);
    ck_assert_msg(!address.master, "%s", rule);
}
END_TEST

static const struct {
    const char *rule, *url, *master;
    size_t count;
    struct redis_host last;
    int database;
} sentinels[] = {
    {"one sentinel", "redis+sentinel://s/jobs", "jobs", 1, {"s", 26379}, 0},
    {"three", "redis+sentinel://s1,s2:1,s3:2/jobs/4", "jobs", 3, {"s3", 2}, 4},
    {"in IPv6", "redis+sentinel://[::1]:5,[::2]/jobs", "jobs", 2, {"::2", 26379}, 0},
    {"a name with an escape", "redis+sentinel://s/my%2Fjobs/1", "my/jobs", 1, {"s", 26379}, 1},
    {"sixteen", "redis+sentinel://" HOSTS_8 "h,h,h,h,h,h,h,z:9/jobs", "jobs", 16, {"z", 9}, 0},
};

START_TEST(sentinels_are_a_list_and_have_a_name_for_the_server)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    const char *rule = sentinels[_i].rule;
    struct error err = {0};

    ck_assert_msg(parse(sentinels[_i].url, &address, &err), "%s: %s", rule, err.text);
    ck_assert_msg(same(address.master, sentinels[_i].master), "%s", rule);
    ck_assert_msg(address.host_count == sentinels[_i].count, "%s", rule);
    const struct redis_host *last = &address.hosts[address.host_count - 1];
    ck_assert_msg(same(last->name, sentinels[_i].last.name), "%s", rule);
    ck_assert_msg(last->port == sentinels[_i].last.port, "%s", rule);
    ck_assert_msg(address.database == sentinels[_i].database, "%s", rule);
}
END_TEST

START_TEST(several_nodes_of_a_cluster_may_be_named)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    struct error err = {0};

    ck_assert_msg(parse("redis://:x@a,b:7001,[::1]:7002/0", &address, &err), "%s", err.text);
    ck_assert_uint_eq(address.host_count, 3);
    ck_assert_str_eq(address.hosts[0].name, "a");
    ck_assert_int_eq(address.hosts[0].port, 6379);
    ck_assert_str_eq(address.hosts[2].name, "::1");
    ck_assert_int_eq(address.hosts[2].port, 7002);
    ck_assert_str_eq(address.shown, "redis://:***@a,b:7001,[::1]:7002/0");
}
END_TEST

static const struct {
    const char *rule, *url, *prefix;
    int wait_replicas;
} options[] = {
    {"the defaults", "redis://h", "th", 0},
    {"a prefix", "redis://h?prefix=my:jobs", "my:jobs", 0},
    {"a prefix with an escape", "redis://h/1?prefix=my%3Ajobs", "my:jobs", 0},
    {"a long prefix", "redis://h?prefix=" PREFIX_64, PREFIX_64, 0},
    {"replicas", "redis://h?wait_replicas=2", "th", 2},
    {"both", "redis+sentinel://h/jobs/0?wait_replicas=100&prefix=x", "x", 100},
};

START_TEST(options_are_our_own)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    struct error err = {0};

    ck_assert_msg(parse(options[_i].url, &address, &err), "%s: %s", options[_i].rule, err.text);
    ck_assert_msg(same(address.prefix, options[_i].prefix), "%s", options[_i].rule);
    ck_assert_msg(address.wait_replicas == options[_i].wait_replicas, "%s", options[_i].rule);
}
END_TEST

static const struct {
    const char *rule, *url, *user, *password, *sentinel_user, *sentinel_password, *shown;
} sentinel_logins[] = {
    {"nobody", "redis+sentinel://s/jobs", NULL, NULL, NULL, NULL, "redis+sentinel://s/jobs"},
    {"the server's password is not for them", "redis+sentinel://:a@s/jobs", NULL, "a", NULL, NULL,
     "redis+sentinel://:***@s/jobs"},
    {"they have their own", "redis+sentinel://:a@s/jobs?sentinel_password=b%26c", NULL, "a", NULL,
     "b&c", "redis+sentinel://:***@s/jobs?sentinel_password=***"},
    {"and their own users", "redis+sentinel://s/jobs?sentinel_username=eve&sentinel_password=b",
     NULL, NULL, "eve", "b", "redis+sentinel://s/jobs?sentinel_username=eve&sentinel_password=***"},
};

START_TEST(sentinels_have_users_of_their_own)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    const char *rule = sentinel_logins[_i].rule;
    struct error err = {0};

    ck_assert_msg(parse(sentinel_logins[_i].url, &address, &err), "%s: %s", rule, err.text);
    ck_assert_msg(same(address.user, sentinel_logins[_i].user), "%s", rule);
    ck_assert_msg(same(address.password, sentinel_logins[_i].password), "%s", rule);
    ck_assert_msg(same(address.sentinel_user, sentinel_logins[_i].sentinel_user), "%s", rule);
    ck_assert_msg(same(address.sentinel_password, sentinel_logins[_i].sentinel_password), "%s",
                  rule);
    ck_assert_str_eq(address.shown, sentinel_logins[_i].shown);
}
END_TEST

static const struct {
    const char *rule, *url;
    struct redis_tls_settings tls;
} secured[] = {
    {"plain text is not", "redis://h?prefix=x", {0}},
    {"the system's authorities", "rediss://h", {.wanted = true}},
    {"sentinels too", "rediss+sentinel://s/jobs/1", {.wanted = true}},
    {"authorities of its own",
     "rediss://h?cafile=/a%26b.pem",
     {true, "/a&b.pem", NULL, NULL, NULL}},
    {"who we are, in one file", "rediss://h?cert=c.pem", {true, NULL, "c.pem", NULL, NULL}},
    {"in two", "rediss://h:1,g:2?key=k&cert=c&prefix=x", {true, NULL, "c", "k", NULL}},
    {"another name", "rediss://10.0.0.1?servername=db", {true, NULL, NULL, NULL, "db"}},
};

START_TEST(tls_is_what_the_scheme_says)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    const struct redis_tls_settings *expected = &secured[_i].tls;
    struct error err = {0};

    ck_assert_msg(parse(secured[_i].url, &address, &err), "%s: %s", secured[_i].rule, err.text);
    ck_assert_msg(address.tls.wanted == expected->wanted, "%s", secured[_i].rule);
    ck_assert_msg(same(address.tls.cafile, expected->cafile), "%s", secured[_i].rule);
    ck_assert_msg(same(address.tls.cert, expected->cert), "%s", secured[_i].rule);
    ck_assert_msg(same(address.tls.key, expected->key), "%s", secured[_i].rule);
    ck_assert_msg(same(address.tls.servername, expected->servername), "%s", secured[_i].rule);
}
END_TEST

#define WRITE          "write redis://[user:password@]host:6379/0"
#define WRITE_SENTINEL "write redis+sentinel://host:26379,host:26379/master-name/0"

static const struct {
    const char *url, *sentence;
} refusals[] = {
    {"redis:", "redis:: names no host: " WRITE},
    {"redis:db", "redis:db: names no host: " WRITE},
    {"redis://", "redis://: names no host: " WRITE},
    {"redis:///0", "redis:///0: names no host: " WRITE},
    {"redis://:6379", "redis://:6379: names no host: " WRITE},
    {"redis://::1", "redis://::1: names no host: " WRITE},
    {"redis://[]", "redis://[]: names no host: " WRITE},
    {"redis://[::1", "redis://[::1: an IPv6 address stands in brackets, as in [::1]:6379: " WRITE},
    {"redis://[::1]6379",
     "redis://[::1]6379: an IPv6 address stands in brackets, as in [::1]:6379: " WRITE},
    {"redis://[::1]x:6379",
     "redis://[::1]x:6379: an IPv6 address stands in brackets, as in [::1]:6379: " WRITE},
    {"redis://db:0", "redis://db:0: a port is 1 to 65535: " WRITE},
    {"redis://db:65536", "redis://db:65536: a port is 1 to 65535: " WRITE},
    {"redis://db:", "redis://db:: a port is 1 to 65535: " WRITE},
    {"redis://db:6379x", "redis://db:6379x: a port is 1 to 65535: " WRITE},
    {"redis://db/jobs", "redis://db/jobs: a database is a number: " WRITE},
    {"redis://db/-1", "redis://db/-1: a database is a number: " WRITE},
    {"redis://db/0/1", "redis://db/0/1: a database is a number: " WRITE},
    {"redis://ada@db", "redis://ada@db: a user needs a password: " WRITE},
    {"redis://@db", "redis://@db: a user needs a password: " WRITE},
    {"redis://a,", "redis://a,: names no host: " WRITE},
    {"rediss://", "rediss://: names no host: write rediss://[user:password@]host:6379/0"},
    {"rediss+sentinel://s", "rediss+sentinel://s: does not say what the sentinels call the server: "
                            "write rediss+sentinel://host:26379,host:26379/master-name/0"},
    {"redis://db?cafile=x",
     "redis://db?cafile=x: cafile is for TLS: write rediss in place of redis"},
    {"rediss://db?cafile=", "rediss://db?cafile=: cafile is empty"},
    {"rediss://db?key=k", "rediss://db?key=k: a key needs its certificate: add cert=FILE"},
    {"redis+sentinel://s", "redis+sentinel://s: does not say what the sentinels call the "
                           "server: " WRITE_SENTINEL},
    {"redis+sentinel://s/", "redis+sentinel://s/: does not say what the sentinels call the "
                            "server: " WRITE_SENTINEL},
    {"redis+sentinel:///jobs", "redis+sentinel:///jobs: names no host: " WRITE_SENTINEL},
    {"redis+sentinel://s,,t/jobs", "redis+sentinel://s,,t/jobs: names no host: " WRITE_SENTINEL},
    {"redis+sentinel://s:x/jobs",
     "redis+sentinel://s:x/jobs: a port is 1 to 65535: " WRITE_SENTINEL},
    {"redis+sentinel://s/jobs/x",
     "redis+sentinel://s/jobs/x: a database is a number: " WRITE_SENTINEL},
    {"redis+sentinel://" HOSTS_8 HOSTS_8 "h/j",
     "redis+sentinel://" HOSTS_8 HOSTS_8 "h/j: names too many hosts: " WRITE_SENTINEL},
    {"redis://h?prefix=", "redis://h?prefix=: prefix is 1 to 64 of A-Z a-z 0-9 _ . : -"},
    {"redis://h?prefix=a{b}", "redis://h?prefix=a{b}: prefix is 1 to 64 of A-Z a-z 0-9 _ . : -"},
    {"redis://h?prefix=a" PREFIX_64,
     "redis://h?prefix=a" PREFIX_64 ": prefix is 1 to 64 of A-Z a-z 0-9 _ . : -"},
    {"redis://h?wait_replicas=-1",
     "redis://h?wait_replicas=-1: wait_replicas is 0 to 100, not '-1'"},
    {"redis://h?wait_replicas=many",
     "redis://h?wait_replicas=many: wait_replicas is 0 to 100, not 'many'"},
    {"redis://h?sentinel_password=x", "redis://h?sentinel_password=***: sentinel_username and "
                                      "sentinel_password are for redis+sentinel://"},
    {"redis://h?sentinel_username=x", "redis://h?sentinel_username=x: sentinel_username and "
                                      "sentinel_password are for redis+sentinel://"},
    {"redis+sentinel://s/j?sentinel_username=x",
     "redis+sentinel://s/j?sentinel_username=x: sentinel_username needs a sentinel_password"},
    {"redis://h?prefx=x", "redis://h?prefx=x: unknown option 'prefx' (did you mean 'prefix'?)"},
};

START_TEST(what_cannot_be_meant_is_refused_in_one_sentence)
{
    struct redis_address address = {0};
    struct error err = {0};

    ck_assert_msg(!parse(refusals[_i].url, &address, &err), "%s", refusals[_i].url);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, refusals[_i].sentence);
    ck_assert_ptr_null(address.shown);
}
END_TEST

static const char *const with_secrets[] = {
    "redis://:sesame@db/x",
    "redis://ada:sesame@db:0",
    "redis://ada:open@sesame@a,b/x",
    "redis+sentinel://:sesame@s/",
    "redis://:sesame@db?prefix=",
    "redis://:sesame@db?wait_replicas=x",
    "redis://db/0?password=sesame",
    "redis://db/0?sentinel_password=sesame",
    "redis+sentinel://s/jobs/x?sentinel_password=sesame",
};

START_TEST(a_refusal_does_not_show_the_password)
{
    struct redis_address address = {0};
    struct error err = {0};

    ck_assert(!parse(with_secrets[_i], &address, &err));
    ck_assert_msg(!strstr(err.text, "sesame"), "%s", err.text);
}
END_TEST

START_TEST(what_is_shown_has_no_secrets)
{
    CLEANUP(redis_address_done) struct redis_address address = {0};
    struct error err = {0};

    ck_assert_msg(parse("redis://ada:sesame@db:1/2?prefix=x", &address, &err), "%s", err.text);
    ck_assert_str_eq(address.shown, "redis://ada:***@db:1/2?prefix=x");
}
END_TEST

Suite *redis_address_suite(void)
{
    Suite *suite = suite_create("store/redis_address");
    TCase *group = tcase_create("redis_address");

    tcase_add_loop_test(group, a_url_says_where_the_server_is_and_who_we_are, 0, COUNT_OF(servers));
    tcase_add_loop_test(group, sentinels_are_a_list_and_have_a_name_for_the_server, 0,
                        COUNT_OF(sentinels));
    tcase_add_test(group, several_nodes_of_a_cluster_may_be_named);
    tcase_add_loop_test(group, sentinels_have_users_of_their_own, 0, COUNT_OF(sentinel_logins));
    tcase_add_loop_test(group, tls_is_what_the_scheme_says, 0, COUNT_OF(secured));
    tcase_add_loop_test(group, options_are_our_own, 0, COUNT_OF(options));
    tcase_add_loop_test(group, what_cannot_be_meant_is_refused_in_one_sentence, 0,
                        COUNT_OF(refusals));
    tcase_add_loop_test(group, a_refusal_does_not_show_the_password, 0, COUNT_OF(with_secrets));
    tcase_add_test(group, what_is_shown_has_no_secrets);
    suite_add_tcase(suite, group);
    return suite;
}
