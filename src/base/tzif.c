/*
 * tzif.c - the files that time zones come in (RFC 8536).
 *
 *     header, data in 32 bits | header, data in 64 bits | "\n" rule "\n"
 *
 * The first part is for old readers and is skipped. The data are arrays, one after the other: the
 * moments of the shifts, the type that each shift leads to, the types, and what we have no use for.
 * Nothing is read that was not seen to be there.
 */
#include "base/tzif.h"

#include "base/arena.h"
#include "base/error.h"

#include <string.h>

#define MAGIC       "TZif"
#define HEADER_SIZE 44
#define COUNTS_AT   20 /* in the header: six numbers of 32 bits */
#define TYPE_SIZE   6  /* offset, is it summer, abbreviation */
#define RULE_MAX    128

#define SHIFTS_MAX 4096
#define TYPES_MAX  256
#define OTHERS_MAX 65536

struct counts {
    size_t ut_flags, wall_flags, leaps, shifts, types, letters;
};

static uint64_t read_number(const unsigned char *at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | at[i];
    return number;
}

/* Two's complement of 64 bits, whatever the machine has. */
static int64_t read_moment(const unsigned char *at)
{
    const uint64_t number = read_number(at, 8);

    return number <= INT64_MAX ? (int64_t)number : -(int64_t)(UINT64_MAX - number) - 1;
}

static int32_t read_offset(const unsigned char *at)
{
    const int64_t number = (int64_t)read_number(at, 4);

    return (int32_t)(number <= INT32_MAX ? number : number - ((int64_t)UINT32_MAX + 1));
}

static bool refuse(struct error *err, const char *reason)
{
    return error_set(err, TH_E_INVALID, "damaged: %s", reason);
}

/* Steps over `size` bytes; false when there are not as many. */
static bool skip(struct bytes *file, size_t size)
{
    if (size > file->length)
        return false;
    file->data += size;
    file->length -= size;
    return true;
}

static bool read_counts(struct bytes *file, struct counts *counts_out, struct error *err)
{
    const unsigned char *header = file->data;
    size_t numbers[6];

    if (!skip(file, HEADER_SIZE) || memcmp(header, MAGIC, strlen(MAGIC)) != 0)
        return refuse(err, "no header");
    if (header[4] < '2')
        return error_set(err, TH_E_INVALID, "written for programs of before 2005");
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        numbers[i] = (size_t)read_number(header + COUNTS_AT + 4 * i, 4);
    *counts_out =
        (struct counts){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    if (counts_out->shifts > SHIFTS_MAX || counts_out->types > TYPES_MAX ||
        counts_out->leaps > OTHERS_MAX || counts_out->letters > OTHERS_MAX ||
        counts_out->ut_flags > TYPES_MAX || counts_out->wall_flags > TYPES_MAX)
        return refuse(err, "too many of something");
    return true;
}

static size_t data_size(const struct counts *counts, size_t moment_size)
{
    return counts->shifts * (moment_size + 1) + counts->types * TYPE_SIZE + counts->letters +
           counts->leaps * (moment_size + 4) + counts->wall_flags + counts->ut_flags;
}

static bool read_types(const unsigned char *types, size_t count, int32_t offsets[TYPES_MAX],
                       struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        offsets[i] = read_offset(types + i * TYPE_SIZE);
        if (offsets[i] <= -ZONE_OFFSET_MAX || offsets[i] >= ZONE_OFFSET_MAX)
            return refuse(err, "an offset of more than a day");
    }
    return true;
}

/* Shifts that leave the offset as it is are left out. */
static bool read_shifts(const unsigned char *data, const struct counts *counts,
                        const int32_t *offsets, struct arena *arena, struct zone *zone,
                        struct error *err)
{
    const unsigned char *types = data + counts->shifts * 8;
    struct zone_shift *shifts = arena_alloc(arena, (counts->shifts + 1) * sizeof *shifts);
    int32_t offset = zone->first_offset;
    int64_t before = INT64_MIN;

    if (!shifts)
        return error_no_memory(err);
    zone->shifts = shifts;
    for (size_t i = 0; i < counts->shifts; i++) {
        const int64_t at = read_moment(data + i * 8);

        if (types[i] >= counts->types)
            return refuse(err, "a shift to nowhere");
        if (i > 0 && at <= before)
            return refuse(err, "its shifts are out of order");
        before = at;
        if (offsets[types[i]] != offset)
            shifts[zone->shift_count++] = (struct zone_shift){at, offsets[types[i]]};
        offset = offsets[types[i]];
    }
    return true;
}

/* Absent is fine: the last offset then stays. */
static bool read_rule(struct bytes footer, struct zone *zone, struct error *err)
{
    char text[RULE_MAX];
    const unsigned char *end =
        footer.length > 1 ? memchr(footer.data + 1, '\n', footer.length - 1) : NULL;

    if (!end || footer.data[0] != '\n')
        return refuse(err, "its end is missing");

    const size_t length = (size_t)(end - footer.data) - 1;
    if (length >= sizeof text)
        return refuse(err, "a rule that is too long");
    memcpy(text, footer.data + 1, length);
    text[length] = '\0';
    zone->has_rule = length > 0;
    return length == 0 || zone_rule_parse(text, &zone->rule) ||
           refuse(err, "a rule that cannot be read");
}

static bool read_data(struct bytes *file, const struct counts *counts, struct arena *arena,
                      struct zone *zone, struct error *err)
{
    int32_t offsets[TYPES_MAX] = {0};
    const unsigned char *data = file->data;

    if (counts->types == 0)
        return refuse(err, "it has no offset");
    if (counts->leaps > 0)
        return error_set(err, TH_E_INVALID, "counts leap seconds, which clocks here do not");
    if (!skip(file, data_size(counts, 8)))
        return refuse(err, "it is cut off");
    if (!read_types(data + counts->shifts * 9, counts->types, offsets, err))
        return false;
    zone->first_offset = offsets[0];
    return read_shifts(data, counts, offsets, arena, zone, err);
}

bool tzif_parse(struct bytes file, struct arena *arena, struct zone *zone_out, struct error *err)
{
    struct counts counts = {0};
    struct zone zone = {0};

    if (!read_counts(&file, &counts, err))
        return false;
    if (!skip(&file, data_size(&counts, 4)))
        return refuse(err, "it is cut off");
    if (!read_counts(&file, &counts, err) || !read_data(&file, &counts, arena, &zone, err) ||
        !read_rule(file, &zone, err))
        return false;
    *zone_out = zone;
    return true;
}
