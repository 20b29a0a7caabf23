/*
 * program_find.c - whether a program is there, and where.
 */
#include "worker/program_find.h"

#include "base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int program_why_not(const char *file)
{
    struct stat status;

    if (stat(file, &status))
        return errno;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) ? errno : 0;
}

const char *program_complaint(int problem)
{
    return problem == EACCES ? "not an executable file" : strerror(problem);
}

bool program_find(const char *name, const char *path, struct buffer *file_out)
{
    for (;;) {
        const size_t length = strcspn(path, ":");

        buffer_clear(file_out);
        buffer_add(file_out, length > 0 ? path : ".", length > 0 ? length : 1);
        buffer_text(file_out, "/");
        buffer_text(file_out, name);
        if (!file_out->failed && program_why_not(buffer_str(file_out)) == 0)
            return true;
        if (path[length] == '\0')
            return false;
        path += length + 1;
    }
}
