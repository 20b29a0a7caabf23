/*
 * test_cron_describe.c - schedules in words.
 */
#include "job/cron_describe.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "job/cron_parse.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *schedule, *words;
} described[] = {
    {"0 3 * * *", "at 03:00 every day"},
    {"@daily", "at 00:00 every day"},
    {"@hourly", "every hour"},
    {"@weekly", "at 00:00 on Sunday"},
    {"@monthly", "at 00:00 on day 1 of every month"},
    {"@yearly", "at 00:00 on day 1 of January"},
    {"* * * * *", "every minute"},
    {"*/5 * * * *", "every 5 minutes"},
    {"*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"},
    {"15 * * * *", "every hour at minute 15"},
    {"0 */2 * * *", "every 2 hours"},
    {"30 */6 * * *", "every 6 hours at minute 30"},
    {"0 9 * * 1-5", "at 09:00 on Monday to Friday"},
    {"0 9 * * MON,WED,FRI", "at 09:00 on Monday, Wednesday and Friday"},
    {"0 9 * * 6,0", "at 09:00 on Saturday and Sunday"},
    {"0 9 * * 0-6", "at 09:00 every day"},
    {"0,30 9 * * *", "at 09:00 and 09:30 every day"},
    {"0 9,12,18 * * *", "at 09:00, 12:00 and 18:00 every day"},
    {"0 9-17 * * 1-5", "every hour from 09:00 to 17:00 on Monday to Friday"},
    {"15 10-20/2 * * *", "every 2 hours from 10:15 to 20:15"},
    {"0 1,5,9,23 * * *", "at 01:00, 05:00, 09:00 and 23:00 every day"},
    {"*/5 9-17 * * *", "every 5 minutes from 09:00 to 17:59"},
    {"*/10 8,12,16 * * *", "every 10 minutes of hours 8, 12 and 16"},
    {"5,10 * * * *", "at minutes 5 and 10 of every hour"},
    {"0-10 3 * * *", "at minutes 0 to 10 from 03:00 to 03:59"},
    {"0 0 1,15 * *", "at 00:00 on days 1 and 15 of every month"},
    {"0 0 1 1,7 *", "at 00:00 on day 1 of January and July"},
    {"0 0 * 3-5 *", "at 00:00 every day in March to May"},
    {"0 0 * 3 1", "at 00:00 on Monday in March"},
    {"0 0 13 * 5", "at 00:00 on day 13 of every month or on Friday"},
    {"0 0 13 2 5", "at 00:00 on day 13 of February or on Friday in February"},
    {"0 0 */10 * 1", "at 00:00 on days 1, 11, 21 and 31 of every month if it is Monday"},
    {"0 0 1-31 * 1", "at 00:00 every day"},
    {"* * * * * *", "every second"},
    {"*/10 * * * * *", "every 10 seconds"},
    {"30 0 3 * * *", "at 03:00:30 every day"},
    {"30 * * * * *", "every minute at second 30"},
    {"30 5 * * * *", "every hour at minute 5 and second 30"},
    {"1,2 * * * * *", "at seconds 1 and 2 of every minute"},
    {"*/10 0 * * * *", "every 10 seconds of minute 0 of every hour"},
    {"* * 9 * * *", "every second from 09:00 to 09:59"},
};

START_TEST(a_schedule_is_told_in_words)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(1024);
    struct cron cron;
    struct error err;

    ck_assert_msg(cron_parse(described[_i].schedule, &cron, &err), "%s", err.text);
    cron_describe(&cron, &words);
    ck_assert_str_eq(buffer_str(&words), described[_i].words);
}
END_TEST

Suite *cron_describe_suite(void)
{
    Suite *suite = suite_create("job/cron_describe");
    TCase *words = pure_case("words");

    tcase_add_loop_test(words, a_schedule_is_told_in_words, 0, COUNT_OF(described));
    suite_add_tcase(suite, words);
    return suite;
}
