#include "base/error.h"
#include "dispatcher/held_jobs.h"
#include "dispatcher/outbox.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define SECOND USEC_PER_SEC

static struct outbox outbox;

static void set_up(void)
{
    outbox = (struct outbox){0};
}

static void tear_down(void)
{
    outbox_done(&outbox);
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* One that is in no lease table: the outbox frees it. */
static struct held_job *hold(void)
{
    struct held_job *held = calloc(1, sizeof *held);

    ck_assert_ptr_nonnull(held);
    held->hold = HOLD_NONE;
    return held;
}

/* A settlement with all that it can point to, in the outbox's own memory. */
static struct held_job *add(const char *text)
{
    struct held_job *held = hold();
    struct job *alert = arena_alloc(&outbox.arena, sizeof *alert);
    struct error err;

    ck_assert(alert);
    *alert = (struct job){.type = "alert", .payload = arena_bytes(&outbox.arena, bytes_of(text))};
    const struct settlement settlement = {
        .kind = SETTLE_FAIL,
        .error = arena_text(&outbox.arena, text),
        .result = arena_bytes(&outbox.arena, bytes_of(text)),
        .output = arena_bytes(&outbox.arena, bytes_of(text)),
        .run = {.error = arena_text(&outbox.arena, text)},
        .on_dead = alert,
    };
    ck_assert(outbox_add(&outbox, held, &settlement, &err));
    return held;
}

static void keep(size_t from, size_t to)
{
    struct error err;

    ck_assert_msg(outbox_keep(&outbox, from, to, &err), "%s", err.text);
}

START_TEST(what_is_kept_does_not_need_the_memory_of_its_exchange)
{
    struct held_job *gone = add("gone"), *kept = add("kept");

    keep(1, 0);
    outbox_clear(&outbox, 1);
    held_job_free(gone);
    ck_assert_uint_eq(outbox.count, 1);
    ck_assert_ptr_eq(outbox.jobs[0], kept);
    const struct settlement *settlement = &outbox.settlements[0];
    ck_assert_str_eq(settlement->error, "kept");
    ck_assert_str_eq(settlement->run.error, "kept");
    ck_assert_mem_eq(settlement->result.data, "kept", 4);
    ck_assert_mem_eq(settlement->output.data, "kept", 4);
    ck_assert_str_eq(settlement->on_dead->type, "alert");
    ck_assert_mem_eq(settlement->on_dead->payload.data, "kept", 4);
}
END_TEST

START_TEST(what_is_absent_stays_absent)
{
    const struct settlement ack = {.kind = SETTLE_ACK};
    struct held_job *held = hold();
    struct error err;

    ck_assert(outbox_add(&outbox, held, &ack, &err));
    keep(0, 0);
    outbox_clear(&outbox, 1);
    ck_assert_ptr_null(outbox.settlements[0].error);
    ck_assert_ptr_null(outbox.settlements[0].result.data);
    ck_assert_ptr_null(outbox.settlements[0].on_dead);
}
END_TEST

START_TEST(what_is_kept_waits_for_its_time_and_holds_up_nothing)
{
    add("first");
    keep(0, 0);
    outbox_clear(&outbox, 1);
    outbox.kept_until = 2 * SECOND;
    ck_assert_uint_eq(outbox_first(&outbox, SECOND), 1);
    ck_assert_uint_eq(outbox.count, 1); /* so there is nothing to send */
    add("second");
    ck_assert_uint_eq(outbox_first(&outbox, SECOND), 1);
    ck_assert_uint_eq(outbox_first(&outbox, 2 * SECOND), 0);
}
END_TEST

START_TEST(what_is_kept_is_sent_again_soon_and_then_ever_more_seldom)
{
    static const usec_t waits[] = {20, 40, 80, 160, 320, 500, 500};

    add("first");
    keep(0, 0);
    outbox_clear(&outbox, 1);
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        outbox_wait(&outbox, SECOND);
        ck_assert_int_eq(outbox.kept_until - SECOND, waits[i] * USEC_PER_MSEC);
    }
    outbox.kept = 0;
    outbox_wait(&outbox, SECOND);
    outbox.kept = 1;
    outbox_wait(&outbox, SECOND);
    ck_assert_int_eq(outbox.kept_until - SECOND, 20 * USEC_PER_MSEC);
}
END_TEST

START_TEST(an_exchange_that_took_too_long_is_repeated_in_halves)
{
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 2000);
    outbox_shrink(&outbox, 2000);
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 1000);
    outbox_shrink(&outbox, 1000);
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 500);
    outbox_shrink(&outbox, 3); /* so few are not the reason */
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 32);
    outbox_grow(&outbox, 32);
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 64);
    outbox_grow(&outbox, 40); /* all that there was */
    ck_assert_uint_eq(outbox_share(&outbox, 2000), 2000);
}
END_TEST

/* Of each the output has so many bytes; what it has is never read. */
static void add_large(size_t count, size_t bytes)
{
    static const unsigned char byte = 0;
    struct error err;

    for (size_t i = 0; i < count; i++) {
        const struct settlement ack = {.output = {&byte, bytes}, .ref = (int64_t)i};
        struct held_job *held = hold();

        ck_assert(outbox_add(&outbox, held, &ack, &err));
        held_job_move(held, HELD_KEPT); /* so that nothing is copied */
    }
}

START_TEST(an_exchange_has_no_more_than_four_mebibytes_but_at_least_one)
{
    add_large(9, (size_t)1 << 20);
    ck_assert_uint_eq(outbox_fit(&outbox, 0, 9), 4);
    ck_assert_uint_eq(outbox.left, 5);
    ck_assert_uint_eq(outbox_fit(&outbox, 7, 2), 2);
    ck_assert_uint_eq(outbox.left, 0);
    add_large(2, (size_t)5 << 20);
    ck_assert_uint_eq(outbox_fit(&outbox, 9, 2), 1);
    ck_assert_uint_eq(outbox_fit(&outbox, 0, 0), 0);
}
END_TEST

START_TEST(what_was_too_much_for_one_exchange_goes_with_the_next_at_once)
{
    add_large(9, (size_t)1 << 20);
    outbox_fit(&outbox, 0, 9);
    outbox.kept = 5;
    outbox_wait(&outbox, SECOND);
    ck_assert_int_eq(outbox.kept_until, SECOND);
    outbox.kept = 6; /* one of the four could not be settled */
    outbox_wait(&outbox, SECOND);
    ck_assert_int_eq(outbox.kept_until, SECOND + 20 * USEC_PER_MSEC);
}
END_TEST

START_TEST(what_could_not_be_settled_keeps_back_nothing_that_was_not_tried)
{
    static const int64_t turned[] = {0, 3, 4, 5, 6, 1, 2};

    add_large(7, (size_t)1 << 20);
    outbox.kept = 7;
    outbox.left = 4;
    outbox_turn(&outbox, 1); /* 1 and 2 were refused; 0 did not go along */
    for (size_t i = 0; i < COUNT_OF(turned); i++)
        ck_assert_int_eq(outbox.settlements[i].ref, turned[i]);
}
END_TEST

START_TEST(what_is_kept_again_is_copied_once)
{
    struct held_job *held = add("first");

    keep(0, 0);
    outbox_clear(&outbox, 1);
    const char *text = outbox.settlements[0].error;
    keep(0, 0);
    outbox_clear(&outbox, 1);
    ck_assert_ptr_eq(outbox.settlements[0].error, text);
    ck_assert_int_eq(held->state, HELD_KEPT);
}
END_TEST

static struct outbox take_out(void)
{
    const struct outbox taken = outbox;

    outbox = (struct outbox){0};
    return taken;
}

START_TEST(what_comes_back_is_before_what_has_gathered_since)
{
    const struct held_job *first = add("first");
    struct outbox out = take_out();
    const struct held_job *second = add("second");
    struct outbox since = take_out();
    struct error err;

    outbox = out;
    ck_assert(outbox_append(&outbox, &since, &err));
    ck_assert_uint_eq(since.count, 0);
    outbox_done(&since);
    ck_assert_uint_eq(outbox.count, 2);
    ck_assert_ptr_eq(outbox.jobs[0], first);
    ck_assert_ptr_eq(outbox.jobs[1], second);
    ck_assert_str_eq(outbox.settlements[0].error, "first");
    ck_assert_str_eq(outbox.settlements[1].error, "second");
}
END_TEST

START_TEST(what_was_kept_before_stays_so_when_nothing_comes_back)
{
    struct outbox empty = {0};
    struct error err;

    add("kept");
    keep(0, 0);
    outbox_clear(&outbox, 1);
    outbox.kept_until = 2 * SECOND;
    ck_assert(outbox_append(&empty, &outbox, &err));
    ck_assert_uint_eq(outbox.count, 0);
    ck_assert_uint_eq(outbox_first(&empty, SECOND), 1);
    outbox_done(&empty);
}
END_TEST

START_TEST(what_it_has_grown_to_is_freed_and_what_it_has_learned_is_not)
{
    held_job_free(add("settled"));
    outbox_clear(&outbox, 0);
    outbox_shrink(&outbox, 100);
    outbox_trim(&outbox);
    ck_assert_uint_eq(outbox.capacity, 0);
    ck_assert_uint_eq(outbox_share(&outbox, 100), 50);
    add("next");
    ck_assert_str_eq(outbox.settlements[0].error, "next");
}
END_TEST

Suite *outbox_suite(void)
{
    Suite *suite = suite_create("dispatcher/outbox");
    TCase *group = tcase_create("outbox");

    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_add_test(group, what_is_kept_does_not_need_the_memory_of_its_exchange);
    tcase_add_test(group, what_is_absent_stays_absent);
    tcase_add_test(group, what_is_kept_waits_for_its_time_and_holds_up_nothing);
    tcase_add_test(group, what_is_kept_is_sent_again_soon_and_then_ever_more_seldom);
    tcase_add_test(group, an_exchange_that_took_too_long_is_repeated_in_halves);
    tcase_add_test(group, an_exchange_has_no_more_than_four_mebibytes_but_at_least_one);
    tcase_add_test(group, what_was_too_much_for_one_exchange_goes_with_the_next_at_once);
    tcase_add_test(group, what_could_not_be_settled_keeps_back_nothing_that_was_not_tried);
    tcase_add_test(group, what_is_kept_again_is_copied_once);
    tcase_add_test(group, what_comes_back_is_before_what_has_gathered_since);
    tcase_add_test(group, what_was_kept_before_stays_so_when_nothing_comes_back);
    tcase_add_test(group, what_it_has_grown_to_is_freed_and_what_it_has_learned_is_not);
    suite_add_tcase(suite, group);
    return suite;
}
