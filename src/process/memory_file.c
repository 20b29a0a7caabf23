/*
 * memory_file.c - a text too long for a message, in a sealed memfd that goes along with it.
 */
#include "process/memory_file.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

bool memory_file_make(const char *what, struct bytes text, int *fd_out, struct error *err)
{
    *fd_out = memfd_create(what, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd_out < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "open a file in memory");
    if (!io_write_all(*fd_out, text.data, text.length, err))
        return error_prefix(err, "a file in memory");
    if (fcntl(*fd_out, F_ADD_SEALS, SEALS))
        return error_errno(err, TH_E_INTERNAL, errno, "seal a file in memory");
    return true;
}

static bool check(const char *what, int fd, uint64_t length, struct error *err)
{
    struct stat status;

    if (fcntl(fd, F_GET_SEALS) != SEALS)
        return error_set(err, TH_E_INTERNAL, "%s: its file is not a sealed one in memory", what);
    if (fstat(fd, &status))
        return error_errno(err, TH_E_INTERNAL, errno, "%s: look at its file", what);
    if (status.st_size < 0 || (uint64_t)status.st_size != length)
        return error_set(err, TH_E_INTERNAL, "%s: %" PRIu64 " bytes in a file of %jd", what, length,
                         (intmax_t)status.st_size);
    return true;
}

/* At its place, not at the file's own: that one was moved by writing, and is shared. */
static bool read_exactly(const char *what, int fd, unsigned char *data, size_t length,
                         struct error *err)
{
    size_t done = 0;

    while (done < length) {
        const ssize_t count = pread(fd, data + done, length - done, (off_t)done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_errno(err, TH_E_INTERNAL, errno, "%s: read its file", what);
        if (count == 0)
            return error_set(err, TH_E_INTERNAL, "%s: it ends after %zu of %zu bytes", what, done,
                             length);
        done += (size_t)count;
    }
    return true;
}

bool memory_file_read(const char *what, int fd, uint64_t length, struct arena *arena,
                      struct bytes *text_out, struct error *err)
{
    if (!check(what, fd, length, err))
        return false;
    unsigned char *data = arena_alloc(arena, length + 1);
    if (!data)
        return error_no_memory(err);
    data[length] = '\0';
    *text_out = (struct bytes){data, length};
    return read_exactly(what, fd, data, length, err);
}
