#include "dispatcher/room.h"
#include "suites.h"

#include <check.h>

#define MIB ((size_t)1 << 20)

static const struct {
    const char *rule;
    struct room_facts facts;
    size_t expected;
} rooms[] = {
    {"each idle worker has room for one job", {.idle = 4, .capacity = 100}, 4},
    {"no worker is idle, nothing was quick: none is fetched", {.capacity = 100}, 0},
    {"twice what was quickly done is fetched ahead", {.quick = 8, .capacity = 100}, 16},
    {"both add up", {.idle = 2, .quick = 8, .capacity = 100}, 18},
    {"what can join others adds up, too", {.idle = 2, .spare = 3, .capacity = 100}, 5},
    {"what waits already is in their place",
     {.idle = 2, .quick = 8, .waiting = 10, .held = 10, .capacity = 100},
     8},
    {"more waiting than wanted is no room",
     {.idle = 1, .waiting = 5, .held = 5, .capacity = 100},
     0},
    {"an exchange that came too soon counts what was done before it",
     {.quick = 1, .last_quick = 8, .capacity = 100},
     16},
    {"and one that came late what was done since",
     {.quick = 8, .last_quick = 1, .capacity = 100},
     16},
    {"never more than the lease table holds",
     {.idle = 4, .quick = 100, .held = 93, .capacity = 100},
     7},
    {"a full table is no room", {.idle = 4, .quick = 100, .held = 100, .capacity = 100}, 0},
    {"half of the table at once, for the workers have the other",
     {.quick = 100, .capacity = 100},
     50},
};

START_TEST(room_is_what_will_soon_be_eaten)
{
    const size_t room = room_for(&rooms[_i].facts);

    ck_assert_msg(room == rooms[_i].expected, "%s, not %zu", rooms[_i].rule, room);
}
END_TEST

static const struct {
    const char *rule;
    size_t running, limit, expected;
} joins[] = {
    {"nobody joins an idle worker: it is counted as idle", 0, 0, 0},
    {"nor one that has a job of its own", 1, 1, 0},
    {"what may have more is tried with one", 1, 50, 1},
    {"and then with as many as it has", 8, 50, 8},
    {"up to what it may have", 40, 50, 10},
    {"and not beyond", 50, 50, 0},
    {"a limit that has become smaller is no room", 5, 2, 0},
};

START_TEST(those_that_can_join_are_asked_for_by_and_by)
{
    const size_t room = room_to_join(joins[_i].running, joins[_i].limit);

    ck_assert_msg(room == joins[_i].expected, "%s, not %zu", joins[_i].rule, room);
}
END_TEST

static const struct {
    const char *rule;
    size_t room, count, bytes;
    size_t expected;
} sizes[] = {
    {"nothing came last time: nothing is known", 50, 0, 0, 50},
    {"empty payloads take no room", 50, 10, 0, 50},
    {"small ones fit", 50, 10, 1000, 50},
    {"16 MiB of large ones fit", 50, 4, 4 * MIB, 16},
    {"one fits, however large it is", 50, 1, 64 * MIB, 1},
    {"no room stays none", 0, 1, 64 * MIB, 0},
};

START_TEST(large_payloads_are_not_fetched_far_ahead)
{
    const size_t room = room_by_size(sizes[_i].room, sizes[_i].count, sizes[_i].bytes);

    ck_assert_msg(room == sizes[_i].expected, "%s, not %zu", sizes[_i].rule, room);
}
END_TEST

Suite *room_suite(void)
{
    Suite *suite = suite_create("dispatcher/room");
    TCase *cases = tcase_create("room");

    tcase_add_loop_test(cases, room_is_what_will_soon_be_eaten, 0, COUNT_OF(rooms));
    tcase_add_loop_test(cases, those_that_can_join_are_asked_for_by_and_by, 0, COUNT_OF(joins));
    tcase_add_loop_test(cases, large_payloads_are_not_fetched_far_ahead, 0, COUNT_OF(sizes));
    suite_add_tcase(suite, cases);
    return suite;
}
