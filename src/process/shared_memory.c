/*
 * shared_memory.c - memory that the master maps before it forks, and that the others share.
 */
#include "process/shared_memory.h"

#include "base/error.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

size_t shared_memory_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

bool shared_memory_map(size_t size, const char *what, unsigned char **memory_out, struct error *err)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return error_errno(err, TH_E_NO_MEMORY, errno, "map %s", what);
    *memory_out = memory;
    return true;
}
