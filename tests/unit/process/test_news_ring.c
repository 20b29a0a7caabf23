#include "base/error.h"
#include "process/news_ring.h"
#include "suites.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct news_ring *open_events(void)
{
    struct news_ring *events = NULL;
    struct error err;

    ck_assert_msg(news_ring_open(&events, &err), "%s", err.text);
    return events;
}

static void add(struct news_ring *events, int attempt)
{
    struct news event = {.kind = NEWS_DONE, .attempt = attempt};

    snprintf(event.type, sizeof event.type, "mail");
    news_ring_add(events, &event);
}

START_TEST(they_are_wanted_until_then_and_never_less_long)
{
    struct news_ring *events = open_events();

    ck_assert(!news_ring_is_wanted(events, 1));
    news_ring_want(events, 10);
    news_ring_want(events, 5);
    ck_assert(news_ring_is_wanted(events, 9));
    ck_assert(!news_ring_is_wanted(events, 10));
    ck_assert(!news_ring_is_wanted(NULL, 1));
    news_ring_close(&events);
}
END_TEST

START_TEST(a_reader_gets_what_other_processes_tell_from_its_beginning_on)
{
    struct news_ring *events = open_events();
    struct news event;
    uint64_t missed = 0;
    int status;

    add(events, 1);
    struct news_reader reader = news_ring_begin(events);
    ck_assert(!news_ring_read(events, &reader, &event, &missed));
    const pid_t pid = fork();
    if (pid == 0) {
        add(events, 2);
        add(events, 3);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(news_ring_read(events, &reader, &event, &missed));
    ck_assert_int_eq(event.attempt, 2);
    ck_assert_str_eq(event.type, "mail");
    ck_assert(news_ring_read(events, &reader, &event, &missed));
    ck_assert_int_eq(event.attempt, 3);
    ck_assert(!news_ring_read(events, &reader, &event, &missed));
    ck_assert_uint_eq(missed, 0);
    news_ring_close(&events);
}
END_TEST

START_TEST(whoever_reads_too_late_is_told_how_many_were_missed)
{
    struct news_ring *events = open_events();
    struct news_reader reader = news_ring_begin(events);
    struct news event;
    uint64_t missed = 0;

    for (int i = 0; i < NEWS_RING_SIZE + 7; i++)
        add(events, i);
    for (int i = 7; i < NEWS_RING_SIZE + 7; i++) {
        ck_assert(news_ring_read(events, &reader, &event, &missed));
        ck_assert_int_eq(event.attempt, i);
    }
    ck_assert(!news_ring_read(events, &reader, &event, &missed));
    ck_assert_uint_eq(missed, 7);
    news_ring_close(&events);
}
END_TEST

/* Two writers and a reader at once: each event comes whole, or counts as missed. */
START_TEST(nothing_comes_twice_or_torn_while_several_write)
{
    enum { EACH = 20000 };
    struct news_ring *events = open_events();
    struct news_reader reader = news_ring_begin(events);
    struct news event;
    uint64_t missed = 0, seen = 0;
    pid_t writers[2];

    for (int i = 0; i < 2; i++) {
        writers[i] = fork();
        if (writers[i] == 0) {
            for (int n = 0; n < EACH; n++) {
                struct news mine = {.attempt = n, .worker = n, .at = n};

                snprintf(mine.error, sizeof mine.error, "%d", n);
                news_ring_add(events, &mine);
            }
            _exit(0);
        }
    }
    while (seen + missed < 2 * EACH) {
        if (!news_ring_read(events, &reader, &event, &missed))
            continue;
        char text[16];

        seen++;
        snprintf(text, sizeof text, "%d", event.attempt);
        ck_assert_str_eq(event.error, text);
        ck_assert(event.worker == event.attempt && event.at == event.attempt);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(waitpid(writers[i], NULL, 0), writers[i]);
    ck_assert_uint_eq(seen + missed, 2 * EACH);
    news_ring_close(&events);
}
END_TEST

/* A process that does this is killed; whatever it may do is done before. */
static int end_of(void (*deed)(struct news_ring *events))
{
    struct news_ring *events = open_events();
    struct error err;
    int status;

    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (!news_ring_restrict(events, &err))
            _exit(1);
        deed(events);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    news_ring_close(&events);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void listen_to(struct news_ring *events)
{
    struct news_reader reader = news_ring_begin(events);
    struct news event;
    uint64_t missed = 0;

    news_ring_want(events, 5);
    if (news_ring_read(events, &reader, &event, &missed))
        _exit(2);
}

static void forge(struct news_ring *events)
{
    add(events, 1);
}

START_TEST(a_door_can_listen_and_cannot_forge)
{
    ck_assert_int_eq(end_of(listen_to), 0);
    ck_assert_int_eq(end_of(forge), SIGSEGV);
}
END_TEST

Suite *news_ring_suite(void)
{
    Suite *suite = suite_create("process/news_ring");
    TCase *events = tcase_create("news_ring");

    tcase_add_test(events, they_are_wanted_until_then_and_never_less_long);
    tcase_add_test(events, a_reader_gets_what_other_processes_tell_from_its_beginning_on);
    tcase_add_test(events, whoever_reads_too_late_is_told_how_many_were_missed);
    tcase_add_test(events, nothing_comes_twice_or_torn_while_several_write);
    tcase_add_test(events, a_door_can_listen_and_cannot_forge);
    suite_add_tcase(suite, events);
    return suite;
}
