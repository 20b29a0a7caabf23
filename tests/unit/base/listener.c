/*
 * listener.c - reads what this process writes to stderr.
 */
#include "base/listener.h"

#include "base/buffer.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int reader = -1;
static struct buffer heard = BUFFER((size_t)64 << 20);

void listener_open(void)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_gt(fcntl(ends[0], F_SETPIPE_SZ, 4096), 0);
    listener_connect(ends[0], ends[1]);
}

void listener_close(void)
{
    if (reader >= 0)
        close(reader);
    reader = -1;
    buffer_done(&heard);
}

void listener_connect(int new_reader, int writer)
{
    listener_close();
    reader = new_reader;
    ck_assert_int_eq(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(dup2(writer, STDERR_FILENO), STDERR_FILENO);
    close(writer);
}

void listener_open_terminal(void)
{
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    ck_assert_int_eq(grantpt(terminal), 0);
    ck_assert_int_eq(unlockpt(terminal), 0);
    listener_connect(terminal, open(ptsname(terminal), O_RDWR | O_NOCTTY));
}

void listener_wait_for_the_end(void)
{
    ck_assert_int_eq(fcntl(reader, F_SETFL, 0), 0);
}

const char *listener_hear(void)
{
    char chunk[8192];
    ssize_t count;

    while ((count = read(reader, chunk, sizeof chunk)) > 0)
        buffer_add(&heard, chunk, (size_t)count);
    ck_assert(!heard.failed);
    return buffer_str(&heard);
}

size_t listener_length(void)
{
    listener_hear();
    return heard.length;
}

size_t listener_count(const char *part)
{
    size_t count = 0;

    for (const char *at = listener_hear(); (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

size_t listener_take_piece(void)
{
    char piece[8192];
    const ssize_t length = read(reader, piece, sizeof piece);

    buffer_clear(&heard);
    return length < 0 ? 0 : (size_t)length;
}
