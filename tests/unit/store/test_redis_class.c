#include "store/redis/net/class.h"

#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *reply;
    enum redis_remedy remedy;
    enum th_error_code code;
    const char *says;
} replies[] = {
    {"a flushed script is loaded", "NOSCRIPT No matching script. Please use EVAL.", REMEDY_LOAD,
     TH_E_UNAVAILABLE, "flushed"},
    {"a slot with another home is followed", "MOVED 3999 127.0.0.1:6381", REMEDY_MOVE,
     TH_E_UNAVAILABLE, "moving"},
    {"a key that has gone ahead is asked for there", "ASK 3999 127.0.0.1:6381", REMEDY_ASK,
     TH_E_UNAVAILABLE, "moving"},
    {"a slot on the move is tried again", "TRYAGAIN Multiple keys request during rehashing of slot",
     REMEDY_REPEAT, TH_E_UNAVAILABLE, "moving"},
    {"a cluster that is down is left", "CLUSTERDOWN The cluster is down", REMEDY_RECONNECT,
     TH_E_UNAVAILABLE, "the cluster is down"},
    {"a replica is left", "READONLY You can't write against a read only replica.", REMEDY_RECONNECT,
     TH_E_UNAVAILABLE, "this is a replica"},
    {"a master that became a replica is left", "UNBLOCKED force unblock from blocking operation",
     REMEDY_RECONNECT, TH_E_UNAVAILABLE, "this is a replica now"},
    {"a server that starts is left", "LOADING Redis is loading the dataset in memory",
     REMEDY_RECONNECT, TH_E_UNAVAILABLE, "loading"},
    {"a replica without its master is left", "MASTERDOWN Link with MASTER is down",
     REMEDY_RECONNECT, TH_E_UNAVAILABLE, "without its master"},
    {"somebody's script is left alone", "BUSY Redis is busy running a script.", REMEDY_RECONNECT,
     TH_E_UNAVAILABLE, "somebody's script"},
    {"too few replicas are told", "NOREPLICAS Not enough good replicas to write.", REMEDY_NONE,
     TH_E_UNAVAILABLE, "min-replicas-to-write"},
    {"a full server is told with advice", "OOM command not allowed when used memory > 'maxmemory'.",
     REMEDY_NONE, TH_E_UNAVAILABLE, "raise maxmemory"},
    {"a full disk is told", "MISCONF Redis is configured to save RDB snapshots", REMEDY_NONE,
     TH_E_UNAVAILABLE, "cannot save to its disk"},
    {"a missing password is told", "NOAUTH Authentication required.", REMEDY_NONE, TH_E_UNAVAILABLE,
     "wants a password"},
    {"a wrong password is told", "WRONGPASS invalid username-password pair or user is disabled.",
     REMEDY_NONE, TH_E_UNAVAILABLE, "does not accept"},
    {"a user with too few rights is told", "NOPERM this user has no permissions", REMEDY_NONE,
     TH_E_UNAVAILABLE, "PREFIX:*"},
    {"a key of another type is set aside, and told where it cannot be",
     "WRONGTYPE Operation against a key holding the wrong kind of value", REMEDY_MEND, TH_E_SCHEMA,
     "another prefix"},
    {"a server without room for us passes", "ERR max number of clients reached", REMEDY_NONE,
     TH_E_UNAVAILABLE, "as many clients"},
    {"a password for a server that has none is the user's to mend",
     "ERR AUTH <password> called without any password configured", REMEDY_NONE, TH_E_INVALID,
     "called without any password"},
    {"so is a database that is not there", "ERR DB index is out of range", REMEDY_NONE,
     TH_E_INVALID, "DB index is out of range"},
    {"and a database in a cluster", "ERR SELECT is not allowed in cluster mode", REMEDY_NONE,
     TH_E_INVALID, "SELECT is not allowed"},
    {"a script that failed is our bug", "ERR user_script:12: attempt to index a nil value",
     REMEDY_NONE, TH_E_INTERNAL, "user_script:12"},
    {"the word counts as a whole", "OOMPH something else", REMEDY_NONE, TH_E_INTERNAL, "OOMPH"},
    {"and not in the middle", "ERR MOVED 1 h:1", REMEDY_NONE, TH_E_INTERNAL, "ERR MOVED"},
    {"a word alone is enough", "LOADING", REMEDY_RECONNECT, TH_E_UNAVAILABLE, "loading"},
    {"nothing at all is our bug", "", REMEDY_NONE, TH_E_INTERNAL, ""},
};

START_TEST(an_error_reply_has_one_remedy_and_one_meaning)
{
    struct error err = {0};

    ck_assert_msg(redis_class_remedy(replies[_i].reply) == replies[_i].remedy, "%s",
                  replies[_i].rule);
    ck_assert(!redis_class_error(replies[_i].reply, &err));
    ck_assert_msg(err.code == replies[_i].code, "%s, not %s", replies[_i].rule,
                  error_code_name(err.code));
    ck_assert_msg(strstr(err.text, replies[_i].says) != NULL, "%s: %s", replies[_i].rule, err.text);
}
END_TEST

Suite *redis_class_suite(void)
{
    Suite *suite = suite_create("store/redis_class");
    TCase *group = tcase_create("redis_class");

    tcase_add_loop_test(group, an_error_reply_has_one_remedy_and_one_meaning, 0, COUNT_OF(replies));
    suite_add_tcase(suite, group);
    return suite;
}
