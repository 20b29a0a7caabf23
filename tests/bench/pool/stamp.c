/*
 * stamp.c - a job that says when its first instruction ran: microseconds of boot time, written into
 * the FIFO that it is given.
 */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec now;
    char text[32];

    clock_gettime(CLOCK_BOOTTIME, &now);
    const int length =
        snprintf(text, sizeof text, "%lld\n", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    const int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -1;
    return fd < 0 || write(fd, text, (size_t)length) != length;
}
