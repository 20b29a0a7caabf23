/*
 * pickup.c - how soon an idle pool starts a job: from the call of th_enqueue() to the first
 * instruction of its handler, which writes the time into the FIFO: stamp.c, stamp_plugin.c,
 * resident.py. The payload is the FIFO's name.
 *
 *     pickup BACKEND TYPE FIFO COUNT          prints the microseconds of each, one a line
 *     pickup BACKEND TYPE FIFO COUNT DELAY    of jobs for DELAY ms later: how late each is
 */
#include "base/clock.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskharbor/client.h>
#include <unistd.h>

#define PAUSE (20 * USEC_PER_MSEC) /* long enough for the pool to be idle again */

static bool read_stamp(int fifo, usec_t *stamp_out)
{
    char text[32];
    const ssize_t length = read(fifo, text, sizeof text - 1);

    if (length <= 0)
        return false;
    text[length - 1] = '\0';
    return text_to_int(text, 1, INT64_MAX, stamp_out);
}

static int measure(struct th_client *client, const char *type, const char *path, int fifo,
                   int64_t count, usec_t delay)
{
    struct th_new_job job = TH_NEW_JOB(type);
    struct th_failure failure;
    struct th_receipt receipt;
    char payload[4096];
    usec_t stamp;

    snprintf(payload, sizeof payload, "\"%s\"", path);
    job.payload = payload;
    for (int64_t i = 0; i < count; i++) {
        clock_sleep(PAUSE);
        const usec_t start = clock_boot();
        job.run_at = delay > 0 ? th_now(client) + delay : 0;
        if (!th_enqueue(client, &job, &receipt, &failure)) {
            fprintf(stderr, "%s\n", failure.text);
            return EXIT_FAILURE;
        }
        if (!read_stamp(fifo, &stamp))
            return EXIT_FAILURE;
        printf("%" PRId64 "\n", stamp - start - delay);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct th_client *client = NULL;
    struct th_failure failure;
    int64_t count, delay = 0;

    if (argc < 5 || argc > 6 || !text_to_int(argv[4], 1, 1000000, &count) ||
        (argc == 6 && !text_to_int(argv[5], 1, 1000000, &delay))) {
        fprintf(stderr, "usage: pickup BACKEND TYPE FIFO COUNT [DELAY]\n");
        return 2;
    }
    const int fifo = open(argv[3], O_RDWR | O_CLOEXEC); /* a writer of our own: never at its end */
    if (fifo < 0 || !th_open(argv[1], NULL, &client, &failure))
        return EXIT_FAILURE;
    const int status = measure(client, argv[2], argv[3], fifo, count, delay * USEC_PER_MSEC);
    th_close(client);
    close(fifo);
    return status;
}
