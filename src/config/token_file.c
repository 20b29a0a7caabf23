/*
 * token_file.c - a file with a secret that opens a door.
 */
#include "config/token_file.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char space[] = " \t\r\n";

static bool check_rights(int fd, const char *path, struct error *err)
{
    struct stat status;

    if (fstat(fd, &status))
        return error_errno(err, TH_E_INVALID, errno, "look at '%s'", path);
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return error_set(err, TH_E_INVALID, "others may use '%s': take that right (chmod 600)",
                         path);
    return true;
}

static struct bytes trim(const char *text)
{
    const char *start = text + strspn(text, space);
    size_t length = strlen(start);

    while (length > 0 && strchr(space, start[length - 1]))
        length--;
    return (struct bytes){(const unsigned char *)start, length};
}

/* Visible ASCII is what a header carries unchanged. */
static bool can_be_sent(struct bytes token)
{
    for (size_t i = 0; i < token.length; i++) {
        if (token.data[i] <= ' ' || token.data[i] >= 0x7f)
            return false;
    }
    return true;
}

static bool take(const struct buffer *text, const char *path, struct digest *digest_out,
                 struct error *err)
{
    const struct bytes token = trim(buffer_str(text));

    if (token.length == 0)
        return error_set(err, TH_E_INVALID, "there is no token in '%s'", path);
    if (!can_be_sent(token) || strlen(buffer_str(text)) != text->length)
        return error_set(err, TH_E_INVALID,
                         "the token in '%s' cannot be sent: use letters, digits and punctuation, "
                         "without spaces",
                         path);
    return digest_of(token, digest_out) || error_no_memory(err);
}

bool token_file_read(const char *path, struct digest *digest_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TOKEN_MAX);
    AUTO_CLOSE int fd = -1;

    if (!io_open_regular(path, &fd, err))
        return error_prefix(err, "'%s'", path);
    const bool is_taken = check_rights(fd, path, err) && io_read_all(fd, path, &text, err) &&
                          take(&text, path, digest_out, err);

    if (text.data)
        explicit_bzero(text.data, text.length);
    return is_taken;
}
