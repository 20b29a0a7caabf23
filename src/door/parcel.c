/*
 * parcel.c - a pack that waits to be sent, and may have to be sent again.
 */
#include "door/parcel.h"

#include "base/error.h"
#include "door/pack.h"
#include "process/memory_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool put_into_file(struct bytes pack, struct parcel *parcel, struct error *err)
{
    if (memory_file_make("pack", pack, &parcel->fd, err))
        return true;
    parcel_done(parcel);
    return false;
}

bool parcel_make(struct bytes pack, struct parcel *parcel_out, struct error *err)
{
    *parcel_out = (struct parcel){.length = pack.length, .fd = -1};
    if (pack.length > PACK_MAX)
        return error_set(err, TH_E_INVALID, "more than %zu bytes for one call", PACK_MAX);
    if (pack.length > MEMORY_FILE_FROM)
        return put_into_file(pack, parcel_out, err);
    if (pack.length == 0)
        return true;
    parcel_out->data = malloc(pack.length);
    if (!parcel_out->data)
        return error_no_memory(err);
    memcpy(parcel_out->data, pack.data, pack.length);
    return true;
}

void parcel_done(struct parcel *parcel)
{
    free(parcel->data);
    if (parcel->fd >= 0)
        close(parcel->fd);
    *parcel = (struct parcel){.fd = -1};
}
