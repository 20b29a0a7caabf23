#include "store/postgres/net/sqlstate.h"

#include "base/error.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *rule, *state;
    enum th_error_code code;
    enum sqlstate_remedy remedy;
} states[] = {
    {"a serialization failure is repeated", "40001", TH_E_UNAVAILABLE, SQLSTATE_REPEAT},
    {"a deadlock is repeated", "40P01", TH_E_UNAVAILABLE, SQLSTATE_REPEAT},
    {"a server that shuts down is away", "57P01", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT},
    {"a server that starts up is away", "57P03", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT},
    {"a timeout keeps the connection", "57014", TH_E_UNAVAILABLE, SQLSTATE_REPORT},
    {"a server that became a standby is left", "25006", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT},
    {"too many connections pass", "53300", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT},
    {"a full disk passes", "53100", TH_E_UNAVAILABLE, SQLSTATE_REPORT},
    {"a table that is missing is a schema that is missing", "42P01", TH_E_SCHEMA, SQLSTATE_REPORT},
    {"our own conflicts", "TH001", TH_E_CONFLICT, SQLSTATE_REPORT},
    {"anything else is a bug", "42601", TH_E_INTERNAL, SQLSTATE_REPORT},
    {"also nothing at all", NULL, TH_E_INTERNAL, SQLSTATE_REPORT},
};

START_TEST(an_error_of_the_server_has_one_meaning)
{
    const struct pg_sqlstate *meaning = pg_sqlstate_find(states[_i].state);

    ck_assert_msg(meaning->code == states[_i].code, "%s, not %s", states[_i].rule,
                  error_code_name(meaning->code));
    ck_assert_msg(meaning->remedy == states[_i].remedy, "%s", states[_i].rule);
}
END_TEST

Suite *sqlstate_suite(void)
{
    Suite *suite = suite_create("store/sqlstate");
    TCase *group = tcase_create("sqlstate");

    tcase_add_loop_test(group, an_error_of_the_server_has_one_meaning, 0, COUNT_OF(states));
    suite_add_tcase(suite, group);
    return suite;
}
