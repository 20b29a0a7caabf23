/*
 * beanstalk.c - a client of beanstalkd that is fast enough to measure the server and not itself:
 * commands are pipelined, and what has come is answered by one write.
 *
 *     beanstalk PORT JOBS WORKERS    stores the jobs, then reserves and deletes them all in so many
 *                                    processes; prints the seconds that the latter took
 */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/text.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WINDOW  200 /* jobs that are under way on a connection: all of it fits into its buffers */
#define PAYLOAD 100
#define LINE    128 /* longest line of an answer */
#define INPUT   65536
#define OUTPUT  65536

/* A connection: what has come and is not read yet, what is to be sent. */
struct client {
    int fd;
    char in[INPUT];
    size_t from, to;
    struct buffer out;
};

static void die(const char *what)
{
    fprintf(stderr, "beanstalk: %s\n", what);
    _exit(EXIT_FAILURE);
}

static void client_open(struct client *client, int64_t port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int on = 1;

    client->out = (struct buffer)BUFFER(OUTPUT);
    client->from = client->to = 0;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 ||
        connect(client->fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        die("cannot connect");
}

static void client_close(struct client *client)
{
    buffer_done(&client->out);
    close(client->fd);
}

/* Sends what there is to send, and waits for something to come. */
static void client_turn(struct client *client)
{
    struct error err;

    if (!buffer_ok(&client->out, &err) ||
        !io_write_all(client->fd, client->out.data, client->out.length, &err))
        die("cannot send");
    buffer_clear(&client->out);
    memmove(client->in, client->in + client->from, client->to - client->from);
    client->to -= client->from;
    client->from = 0;
    const ssize_t length = read(client->fd, client->in + client->to, INPUT - client->to);
    if (length <= 0)
        die("the server has gone");
    client->to += (size_t)length;
}

/* Whether `length` bytes more have come than are looked at by now. */
static bool has(const struct client *client, size_t length)
{
    return client->to - client->from >= length;
}

/* The next line, if all of it has come, without its end. */
static bool find_line(const struct client *client, char line_out[LINE])
{
    const char *start = client->in + client->from;
    const char *end = memchr(start, '\n', client->to - client->from);

    if (!end)
        return false;
    const size_t length = (size_t)(end - start);
    if (length < 1 || length > LINE)
        die("a strange answer");
    memcpy(line_out, start, length - 1);
    line_out[length - 1] = '\0';
    return true;
}

/* ---- storing ---- */

static void put(struct client *client)
{
    char payload[PAYLOAD];

    memset(payload, 'x', sizeof payload);
    buffer_printf(&client->out, "put 5 0 600 %d\r\n", PAYLOAD);
    buffer_add(&client->out, payload, sizeof payload);
    buffer_text(&client->out, "\r\n");
}

/* How many of those that are under way have been stored. */
static int64_t read_inserted(struct client *client)
{
    char line[LINE];
    int64_t count = 0;

    for (; find_line(client, line); count++) {
        if (!text_starts_with(line, "INSERTED "))
            die(line);
        client->from += strlen(line) + 2;
    }
    return count;
}

static void fill(struct client *client, int64_t jobs)
{
    int64_t asked = 0, stored = 0;

    while (stored < jobs) {
        for (; asked < jobs && asked - stored < WINDOW; asked++)
            put(client);
        client_turn(client);
        stored += read_inserted(client);
    }
}

/* ---- working ---- */

struct work {
    struct client *client;
    int64_t left;   /* to be asked for */
    int64_t undone; /* to be deleted */
};

static void reserve(struct work *work)
{
    if (work->left == 0)
        return;
    work->left--;
    buffer_text(&work->client->out, "reserve\r\n");
}

/* RESERVED ID BYTES, and then so many bytes: nothing is done with them, and the job is done. */
static bool take(struct work *work, const char *line)
{
    const size_t length = strlen(line) + 2 + PAYLOAD + 2;
    const char *id = line + strlen("RESERVED ");

    if (!has(work->client, length))
        return false;
    work->client->from += length;
    buffer_printf(&work->client->out, "delete %.*s\r\n", (int)strcspn(id, " "), id);
    reserve(work);
    return true;
}

/* One answer, if all of it has come. */
static bool read_answer(struct work *work)
{
    char line[LINE];

    if (!find_line(work->client, line))
        return false;
    if (text_starts_with(line, "RESERVED "))
        return take(work, line);
    if (!text_equal(line, "DELETED"))
        die(line);
    work->client->from += strlen(line) + 2;
    work->undone--;
    return true;
}

static void work_off(int64_t port, int64_t jobs)
{
    struct client client;
    struct work work = {&client, jobs, jobs};

    client_open(&client, port);
    for (int i = 0; i < WINDOW; i++)
        reserve(&work);
    while (work.undone > 0) {
        client_turn(&client);
        while (read_answer(&work))
            continue;
    }
    client_close(&client);
}

static bool wait_for_all(void)
{
    bool all_well = true;
    int status;

    while (wait(&status) > 0)
        all_well = all_well && status == 0;
    return all_well;
}

int main(int argc, char **argv)
{
    int64_t port, jobs, workers;
    struct client client;

    if (argc != 4 || !text_to_int(argv[1], 1, 65535, &port) ||
        !text_to_int(argv[2], 1, 100000000, &jobs) || !text_to_int(argv[3], 1, 100, &workers)) {
        fprintf(stderr, "usage: beanstalk PORT JOBS WORKERS\n");
        return 2;
    }
    client_open(&client, port);
    fill(&client, jobs);
    client_close(&client);
    const usec_t start = clock_boot();
    for (int64_t i = 0; i < workers; i++) {
        if (fork() == 0) {
            work_off(port, jobs / workers + (i < jobs % workers));
            _exit(EXIT_SUCCESS);
        }
    }
    if (!wait_for_all())
        return EXIT_FAILURE;
    printf("%.6f\n", (double)(clock_boot() - start) / (double)USEC_PER_SEC);
    return EXIT_SUCCESS;
}
