/*
 * test_doors.c - every door gives the same verdict on the same offer, and stores the same job.
 *
 *     TH_OFFERS=100000 TH_SEED=7 CK_RUN_SUITE=doors contract-tests redis
 */
#include "contract.h"
#include "doors.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define OFFERS_MADE 400
#define SEED        20261118
#define NOT_JSON    "payload is not JSON"

static const struct door *const foreign_doors[] = {&door_of_sql, &door_of_redis};

/* Two queues of one store, and a door to each. */
struct entrance {
    struct scene ours, theirs;
    void *client, *foreign;
    const struct door *door;
};

static struct entrance entrance_open(const struct door *door)
{
    struct entrance entrance = {.ours = scene_open(), .theirs = scene_open(), .door = door};

    return entrance;
}

static void entrance_close(struct entrance *entrance)
{
    door_of_client.close(entrance->client);
    entrance->door->close(entrance->foreign);
    scene_close(&entrance->ours);
    scene_close(&entrance->theirs);
}

static const char *shown(const struct offer *offer)
{
    static char text[1024];
    size_t at = 0;

    for (size_t i = 0; i < offer->payload.length && at + 5 < sizeof text; i++)
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            offer->payload.data[i] >= ' ' && offer->payload.data[i] < 0x7f ? "%c" : "\\x%02x",
            offer->payload.data[i]);
    for (size_t i = 0; i < OFFER_FIELDS && at + 2 < sizeof text; i++)
        if (offer_value(offer, i))
            at += (size_t)snprintf(text + at, sizeof text - at, " %s='%s'", offer_fields[i].name,
                                   offer_value(offer, i));
    return text;
}

static struct job get(struct scene *scene, const struct uuid *id, struct job_list *list)
{
    return *scene_get(scene, id, list);
}

static bool same_bytes(struct bytes a, struct bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static void compare_jobs(struct entrance *entrance, const struct offer *offer,
                         const struct door_answer *ours, const struct door_answer *theirs)
{
    CLEANUP(job_list_done) struct job_list list = {0}, other_list = {0};
    char tags[TAGS_TEXT_SIZE], other_tags[TAGS_TEXT_SIZE];
    const struct job a = get(&entrance->ours, &ours->id, &list);
    const struct job b = get(&entrance->ours, &theirs->id, &other_list);

    ck_assert_msg(text_equal(a.type, b.type) && a.encoding == b.encoding &&
                      same_bytes(a.payload, b.payload) && a.priority == b.priority &&
                      a.run_at == b.run_at && a.timeout == b.timeout &&
                      a.max_attempts == b.max_attempts && a.max_stalls == b.max_stalls &&
                      text_equal(a.key, b.key) && text_equal(a.headers, b.headers) &&
                      text_equal(tags_format(a.tags, tags), tags_format(b.tags, other_tags)) &&
                      text_equal(a.idempotency_key, b.idempotency_key) &&
                      keyed_flags_pack(a.update) == keyed_flags_pack(b.update),
                  "%s: the stored jobs differ: %s", offer->rule, shown(offer));
}

/* Both doors have the same words, but for JSON: only the client says where it is wrong. */
static void compare_words(const struct offer *offer, const struct door_answer *ours,
                          const struct door_answer *theirs)
{
    if (ours->sentence[0] == '\0' || theirs->sentence[0] == '\0')
        return;
    if (text_starts_with(ours->sentence, NOT_JSON))
        ck_assert_msg(text_starts_with(theirs->sentence, NOT_JSON), "%s: %s", offer->rule,
                      theirs->sentence);
    else
        ck_assert_msg(text_equal(ours->sentence, theirs->sentence), "%s: '%s', not '%s'",
                      offer->rule, theirs->sentence, ours->sentence);
}

static void offer_to_both(struct entrance *entrance, const struct offer *given,
                          struct door_answer *ours, struct door_answer *theirs)
{
    struct offer offer = *given;

    if (!given->queue)
        offer.queue = entrance->ours.queue;
    door_of_client.enqueue(entrance->client, &offer, ours);
    if (!given->queue)
        offer.queue = entrance->theirs.queue;
    entrance->door->enqueue(entrance->foreign, &offer, theirs);
    ck_assert_msg(ours->accepted == theirs->accepted,
                  "%s: %s by the client (%s), %s by theirs (%s): %s", offer.rule,
                  ours->accepted ? "accepted" : "refused", ours->sentence,
                  theirs->accepted ? "accepted" : "refused", theirs->sentence, shown(given));
    if (ours->accepted)
        compare_jobs(entrance, given, ours, theirs);
}

START_TEST(every_door_lets_the_same_in_and_refuses_the_rest_in_the_same_words)
{
    CLEANUP(entrance_close) struct entrance entrance = entrance_open(foreign_doors[_i]);
    size_t accepted = 0;

    entrance.client = door_of_client.open(&entrance.ours);
    entrance.foreign = entrance.door->open(&entrance.ours);
    for (size_t i = 0; i < offer_count; i++) {
        struct door_answer ours, theirs;
        if (offers[i].is_typed_in_sql && entrance.door == &door_of_sql)
            continue;
        offer_to_both(&entrance, &offers[i], &ours, &theirs);
        compare_words(&offers[i], &ours, &theirs);
        accepted += ours.accepted;
    }
    ck_assert_uint_gt(accepted, offer_count / 4);
    ck_assert_uint_lt(accepted, 3 * offer_count / 4);
}
END_TEST

/* PostgreSQL has its own way to write an object, and this is that. */
START_TEST(the_longest_headers_are_let_in_by_every_door_and_longer_ones_by_none)
{
    CLEANUP(entrance_close) struct entrance entrance = entrance_open(foreign_doors[_i]);
    char headers[8193 + 1];
    const struct offer offer = {.rule = "long headers", .type = "t", .headers = headers};
    struct door_answer ours, theirs;

    entrance.client = door_of_client.open(&entrance.ours);
    entrance.foreign = entrance.door->open(&entrance.ours);
    for (int size = 8192; size <= 8193; size++) {
        snprintf(headers, sizeof headers, "{\"a\": \"%0*d\"}", size - 9, 7);
        offer_to_both(&entrance, &offer, &ours, &theirs);
        compare_words(&offer, &ours, &theirs);
        ck_assert_int_eq(ours.accepted, size == 8192);
    }
}
END_TEST

static uint64_t number_of(const char *variable, uint64_t fallback)
{
    const char *text = getenv(variable);
    int64_t number = 0;

    if (!text)
        return fallback;
    ck_assert_msg(text_to_int(text, 1, INT64_MAX, &number), "%s is no number", variable);
    return (uint64_t)number;
}

/* Keys would make the second of two offers an update of the first: each has queues of its own. */
START_TEST(every_door_gives_the_same_verdict_on_offers_out_of_nowhere)
{
    CLEANUP(entrance_close) struct entrance entrance = entrance_open(foreign_doors[_i]);
    const uint64_t count = number_of("TH_OFFERS", OFFERS_MADE);
    uint64_t seed = number_of("TH_SEED", SEED);
    struct door_answer ours, theirs;
    uint64_t accepted = 0;

    entrance.client = door_of_client.open(&entrance.ours);
    entrance.foreign = entrance.door->open(&entrance.ours);
    for (uint64_t i = 0; i < count; i++) {
        offer_to_both(&entrance, offer_make(&seed), &ours, &theirs);
        accepted += ours.accepted;
    }
    ck_assert_uint_gt(accepted, count / 10);
    ck_assert_uint_lt(accepted, count - count / 10);
}
END_TEST

static bool is_accepted(struct entrance *entrance, const char *once, size_t length,
                        struct uuid *id_out)
{
    static const unsigned char text[200];
    const struct offer offer = {.rule = "limits",
                                .type = "t",
                                .encoding = "raw",
                                .queue = entrance->theirs.queue,
                                .idempotency_key = once,
                                .payload = {text, length}};
    struct door_answer answer;

    entrance->door->enqueue(entrance->foreign, &offer, &answer);
    *id_out = answer.id;
    if (!answer.accepted)
        ck_assert_str_eq(answer.sentence, "payload is 101 bytes long: use at most 100");
    return answer.accepted;
}

/* They did not reach anybody who came without a config. */
START_TEST(the_limits_of_a_config_hold_at_every_door)
{
    CLEANUP(scene_close) struct scene first = scene_open_fresh();
    struct entrance entrance = {.ours = first, .theirs = first, .door = foreign_doors[_i]};
    struct store_limits limits = {.max_payload = 100, .idempotency_window = USEC_PER_DAY};
    struct uuid before, after;
    struct error err = {0};

    scene_add(&first); /* in a cluster a queue is told when it is there */
    entrance.foreign = entrance.door->open(&first);
    MUST(store_publish(first.store, &limits, &err));
    ck_assert(is_accepted(&entrance, "once", 100, &before));
    ck_assert(!is_accepted(&entrance, NULL, 101, &after));
    ck_assert(is_accepted(&entrance, "once", 1, &after));
    ASSERT_SAME_ID(&before, &after);
    limits = (struct store_limits){.max_payload = 101, .idempotency_window = 1};
    MUST(store_publish(first.store, &limits, &err));
    ck_assert(is_accepted(&entrance, "again", 101, &before));
    ck_assert(is_accepted(&entrance, "again", 101, &after));
    ck_assert_int_ne(uuid_compare(&before, &after), 0);
    entrance.door->close(entrance.foreign);
}
END_TEST

/* Nothing where the backend has no door of its own. */
Suite *doors_suite(void)
{
    Suite *suite = suite_create("doors");
    TCase *verdicts = contract_group(suite, "verdicts");

    for (int i = 0; i < (int)COUNT_OF(foreign_doors); i++) {
        if (!text_starts_with(scene_backend()->name, foreign_doors[i]->backend))
            continue;
        tcase_add_loop_test(
            verdicts, every_door_lets_the_same_in_and_refuses_the_rest_in_the_same_words, i, i + 1);
        tcase_add_loop_test(verdicts,
                            the_longest_headers_are_let_in_by_every_door_and_longer_ones_by_none, i,
                            i + 1);
        tcase_add_loop_test(verdicts, the_limits_of_a_config_hold_at_every_door, i, i + 1);
        tcase_add_loop_test(verdicts, every_door_gives_the_same_verdict_on_offers_out_of_nowhere, i,
                            i + 1);
    }
    return suite;
}
