/*
 * fuzz_cron.c - schedules: their times come one after the other, and they have words.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/zone.h"
#include "fuzz.h"
#include "job/cron_describe.h"
#include "job/cron_parse.h"

#include <assert.h>

#define NOON_OF_A_LEAP_DAY (INT64_C(1709208000) * USEC_PER_SEC)

/* None for eight years is told as 0. */
static void expect_order(const struct cron *cron)
{
    const usec_t next = cron_next(cron, &zone_utc, NOON_OF_A_LEAP_DAY);

    if (next == 0)
        return;
    const usec_t after_next = cron_next(cron, &zone_utc, next);

    assert(next > NOON_OF_A_LEAP_DAY && next % USEC_PER_SEC == 0);
    assert(cron_next(cron, &zone_utc, next - 1) == next);
    assert(after_next == 0 || after_next > next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = fuzz_text(data, size);
    CLEANUP(buffer_done) struct buffer words = BUFFER(64 * 1024);
    struct cron cron;
    struct error err = {0};

    if (!cron_parse(text, &cron, &err)) {
        assert(err.code == TH_E_INVALID && err.text[0] != '\0');
        return 0;
    }
    expect_order(&cron);
    cron_describe(&cron, &words);
    assert(buffer_ok(&words, &err) && words.length > 0);
    return 0;
}
