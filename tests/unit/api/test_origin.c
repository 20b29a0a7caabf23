#include "api/origin.h"
#include "config/config.h"
#include "suites.h"

static const struct {
    const char *rule;
    const char *listen;
    const char *host;
    bool is_ours;
} hosts[] = {
    {"the address with its port", "127.0.0.2:7460", "127.0.0.2:7460", true},
    {"the address without a port", "127.0.0.2:7460", "127.0.0.2", true},
    {"the address with a port that is forwarded here", "127.0.0.2:7460", "127.0.0.2:80", true},
    {"another address", "127.0.0.2:7460", "127.0.0.3:7460", false},
    {"an address of IPv6", "[fd00::1]:7460", "[fd00::1]:7460", true},
    {"another one", "[fd00::1]:7460", "[fd00::2]:7460", false},
    {"localhost", "10.0.0.5:7460", "localhost", true},
    {"localhost with a port", "10.0.0.5:7460", "localhost:7460", true},
    {"localhost, shouted", "10.0.0.5:7460", "LOCALHOST:7460", true},
    {"127.0.0.1", "10.0.0.5:7460", "127.0.0.1", true},
    {"[::1]", "10.0.0.5:7460", "[::1]:7460", true},
    {"::1 without brackets", "10.0.0.5:7460", "::1", false},
    {"a name of the config", "10.0.0.5:7460", "jobs.example.org", true},
    {"the same with a port", "10.0.0.5:7460", "Jobs.Example.Org:8443", true},
    {"a name that the config has with a port", "10.0.0.5:7460", "shop.example.org", true},
    {"what a name of the config ends with", "10.0.0.5:7460", "example.org", false},
    {"what ends with a name of the config", "10.0.0.5:7460", "my.jobs.example.org", false},
    {"what starts with localhost", "10.0.0.5:7460", "localhost.evil.example", false},
    {"what starts with an address", "10.0.0.5:7460", "127.0.0.1.evil.example", false},
    {"somebody else's name", "10.0.0.5:7460", "evil.example", false},
    {"a name and a user", "10.0.0.5:7460", "localhost@evil.example", false},
    {"a port that is none", "10.0.0.5:7460", "localhost:80@evil", false},
    {"two ports", "10.0.0.5:7460", "localhost:1:2", false},
    {"a path", "10.0.0.5:7460", "localhost/", false},
    {"two names", "10.0.0.5:7460", "localhost, evil.example", false},
    {"a bracket that stays open", "10.0.0.5:7460", "[::1", false},
    {"an empty name", "10.0.0.5:7460", "", false},
    {"only a port", "10.0.0.5:7460", ":7460", false},
    {"none", "10.0.0.5:7460", NULL, false},
    {"localhost on a socket with a path", "unix:/run/jobs", "localhost", true},
    {"that path", "unix:/run/jobs", "unix:/run/jobs", false},
    {"the start of its address", "unix:/run/jobs", "unix", false},
};

START_TEST(only_our_names_are_ours)
{
    const char *names[] = {"jobs.example.org", "shop.example.org:8443"};
    const struct http_config config = {.listen = hosts[_i].listen, .hosts = {names, 2}};

    ck_assert_msg(origin_host_is_ours(&config, hosts[_i].host) == hosts[_i].is_ours, "%s",
                  hosts[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *site, *origin;
    bool is_ours;
} origins[] = {
    {"no browser says nothing", NULL, NULL, true},
    {"a page of ours", "same-origin", NULL, true},
    {"the line of addresses, or a bookmark", "none", NULL, true},
    {"another port or name of this site", "same-site", NULL, false},
    {"another site", "cross-site", NULL, false},
    {"a word that there is not", "Same-Origin, none", NULL, false},
    {"nothing", "", NULL, false},
    {"where it is from counts more than Origin", "cross-site", "http://jobs:80", false},
    {"and the other way round", "same-origin", "https://evil.example", true},
    {"an old browser on a page of ours", NULL, "http://jobs:80", true},
    {"the same by TLS, which ends before us", NULL, "https://JOBS:80", true},
    {"another port", NULL, "http://jobs:81", false},
    {"another name", NULL, "http://evil.example", false},
    {"a file, or a frame in a sandbox", NULL, "null", false},
    {"no origin", NULL, "", false},
    {"no scheme", NULL, "jobs:80", false},
    {"more than an origin", NULL, "http://jobs:80/path", false},
};

START_TEST(only_pages_of_ours_change_something)
{
    ck_assert_msg(origin_is_ours("jobs:80", origins[_i].site, origins[_i].origin) ==
                      origins[_i].is_ours,
                  "%s", origins[_i].rule);
}
END_TEST

Suite *origin_suite(void)
{
    Suite *suite = suite_create("api/origin");
    TCase *tests = pure_case("origin");

    tcase_add_loop_test(tests, only_our_names_are_ours, 0, COUNT_OF(hosts));
    tcase_add_loop_test(tests, only_pages_of_ours_change_something, 0, COUNT_OF(origins));
    suite_add_tcase(suite, tests);
    return suite;
}
