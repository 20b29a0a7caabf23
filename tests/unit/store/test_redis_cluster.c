#include "store/redis/net/cluster.h"

#include "store/redis/net/connection.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *rule, *key;
    int slot;
} slots[] = {
    {"the test vector of the specification", "123456789", 0x31C3},
    {"no key at all", "", 0},
    {"a plain key", "foo", 12182},
    {"another one", "bar", 5061},
    {"bytes above 127", "\xc3\xa4", 13929},
    {"only what stands in braces counts", "th:{foo}:ready", 12182},
    {"whatever is around it", "{foo}", 12182},
    {"the first pair of braces counts", "{foo}{bar}", 12182},
    {"up to the first that closes", "{foo}}", 12182},
    {"a second that opens is part of it", "foo{{bar}}zap", 4015},
    {"nothing in the braces: the whole counts", "foo{}{bar}", 8363},
    {"also when nothing else is there", "{}", 15257},
    {"braces that do not close: the whole counts", "{foo", 13308},
    {"braces that close first: the whole counts", "}foo{", 8453},
};

START_TEST(a_key_has_the_slot_that_the_servers_give_it)
{
    int slot = redis_cluster_slot(slots[_i].key);

    ck_assert_msg(slot == slots[_i].slot, "%s, not %d", slots[_i].rule, slot);
}
END_TEST

/* A store that knows one node of a cluster, without a connection. */
static struct redis *new_map(void)
{
    struct redis *redis = calloc(1, sizeof *redis);
    struct error err = {0};
    size_t node;

    ck_assert_ptr_nonnull(redis);
    redis->slot_nodes = calloc(REDIS_SLOTS, sizeof *redis->slot_nodes);
    ck_assert_ptr_nonnull(redis->slot_nodes);
    redis_bell_init(&redis->bell);
    ck_assert(redis_node_find(redis, "db1", 7000, &node, &err));
    return redis;
}

static const struct {
    const char *rule, *reply;
    int slot;
    const char *host;
    int port;
} moves[] = {
    {"a node that is new", "MOVED 3999 127.0.0.1:6381", 3999, "127.0.0.1", 6381},
    {"in IPv6", "MOVED 0 ::1:6381", 0, "::1", 6381},
    {"a node without a name is the one that answered", "MOVED 16383 :7001", 16383, "db1", 7001},
    {"a node that is known", "MOVED 5 db1:7000", 5, "db1", 7000},
};

START_TEST(a_slot_that_has_moved_is_looked_for_at_its_new_home)
{
    struct redis *redis = new_map();
    struct error err = {0};

    ck_assert_msg(redis_cluster_follow(redis, 0, moves[_i].reply, NULL, &err), "%s", err.text);
    const struct redis_node *node = &redis->nodes[redis_cluster_node_of(redis, moves[_i].slot)];
    ck_assert_msg(strcmp(node->host.name, moves[_i].host) == 0, "%s", moves[_i].rule);
    ck_assert_msg(node->host.port == moves[_i].port, "%s", moves[_i].rule);
    redis_disconnect(redis);
}
END_TEST

START_TEST(a_slot_on_the_move_is_asked_for_elsewhere_once)
{
    struct redis *redis = new_map();
    struct error err = {0};
    size_t node = REDIS_NO_NODE;

    ck_assert(redis_cluster_follow(redis, 0, "ASK 7 db2:7000", &node, &err));
    ck_assert_uint_eq(node, 1);
    ck_assert_str_eq(redis->nodes[1].host.name, "db2");
    ck_assert_uint_eq(redis_cluster_node_of(redis, 7), 0);
    redis_disconnect(redis);
}
END_TEST

static const char *const nowhere[] = {
    "MOVED",
    "MOVED 1",
    "MOVED 1 host",
    "MOVED x host:1",
    "MOVED 16384 host:1",
    "MOVED -1 host:1",
    "MOVED 1 host:0",
    "MOVED 1 host:65536",
    "MOVED 1 host:x",
    "MOVED  host:1",
};

START_TEST(a_reply_that_leads_nowhere_is_not_followed)
{
    struct redis *redis = new_map();
    struct error err = {0};

    ck_assert(!redis_cluster_follow(redis, 0, nowhere[_i], NULL, &err));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    ck_assert_uint_eq(redis->node_count, 1);
    redis_disconnect(redis);
}
END_TEST

Suite *redis_cluster_suite(void)
{
    Suite *suite = suite_create("store/redis_cluster");
    TCase *group = tcase_create("redis_cluster");

    tcase_add_loop_test(group, a_key_has_the_slot_that_the_servers_give_it, 0, COUNT_OF(slots));
    tcase_add_loop_test(group, a_slot_that_has_moved_is_looked_for_at_its_new_home, 0,
                        COUNT_OF(moves));
    tcase_add_test(group, a_slot_on_the_move_is_asked_for_elsewhere_once);
    tcase_add_loop_test(group, a_reply_that_leads_nowhere_is_not_followed, 0, COUNT_OF(nowhere));
    suite_add_tcase(suite, group);
    return suite;
}
