/*
 * fuzz_units.c - durations, sizes and rates as people write them.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/units.h"
#include "fuzz.h"

#include <assert.h>

static void try_rate(const char *text)
{
    char shown[UNITS_TEXT_SIZE];
    struct units_rate rate, again;
    struct error err;

    if (!units_parse_rate(text, &rate, &err))
        return;
    assert(rate.count > 0 && rate.period > 0);
    assert(units_parse_rate(units_format_rate(&rate, shown), &again, &err));
    assert(again.count == rate.count && again.period == rate.period);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = fuzz_text(data, size);
    char shown[UNITS_TEXT_SIZE];
    usec_t duration = 0;
    bytes_t bytes = 0;
    struct error err;

    if (units_parse_duration(text, &duration, &err)) {
        assert(duration >= 0 && duration <= 36525 * USEC_PER_DAY);
        assert(units_format_duration(duration, shown)[0] != '\0');
    }
    if (units_parse_size(text, &bytes, &err)) {
        assert(bytes <= (bytes_t)1024 << 40);
        assert(units_format_size(bytes, shown)[0] != '\0');
    }
    try_rate(text);
    return 0;
}
