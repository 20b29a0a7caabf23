/*
 * http_bench.c - what many connections cost the HTTP server: memory and CPU time.
 *
 *     http-bench [CONNECTIONS]
 *     http-bench serve           tells its address, and serves until it is killed
 *
 * The server is a process of its own, which tells about itself over HTTP:
 *   /cost        "RSS CPU": its memory in KiB, its CPU time in microseconds
 *   /stream      a stream that lasts
 *   /broadcast   200 bytes to each stream; answers as /cost
 * Anything else is answered with a few bytes, for api_bench.py.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "http/server.h"
#include "http/stream.h"
#include "process/loop.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS_MAX 18000
#define ROUNDS          20
#define REQUESTS        50000

static struct http_stream *streams[CONNECTIONS_MAX];
static size_t stream_count;
static struct sockaddr_in address;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* The server */

static long resident_kib(void)
{
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "re");

    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "VmRSS: %ld", &kib) == 1) /* NOLINT: it is the kernel's number */
            break;
    }
    if (status)
        fclose(status);
    return kib;
}

static bool admit(void *context, struct http_request *request, size_t *body_max_out,
                  struct http_response *refusal_out)
{
    (void)context;
    (void)request;
    (void)refusal_out;
    *body_max_out = 1024;
    return true;
}

static void ignore(void *context)
{
    (void)context;
}

static void begin_stream(struct http_request *request)
{
    static const struct http_stream_events events = {.gone = ignore};
    const struct http_response head = {.status = 200, .type = "text/event-stream"};

    streams[stream_count++] = http_stream_begin(request, &head, &events);
}

static void broadcast(void)
{
    static const unsigned char event[200] = "data: ";

    for (size_t i = 0; i < stream_count; i++)
        http_stream_write(streams[i], (struct bytes){event, sizeof event});
}

static void answer(struct http_request *request, const char *text)
{
    const struct http_response response = {.status = 200,
                                           .body = {(const unsigned char *)text, strlen(text)}};

    http_answer(request, &response);
}

static void tell_cost(struct http_request *request)
{
    char cost[64];

    snprintf(cost, sizeof cost, "%ld %" PRId64, resident_kib(), clock_cpu_of(getpid()));
    answer(request, cost);
}

static void handle(void *context, struct http_request *request)
{
    (void)context;
    if (text_equal(request->path, "/stream")) {
        begin_stream(request);
    } else if (text_equal(request->path, "/broadcast")) {
        broadcast();
        tell_cost(request);
    } else if (text_equal(request->path, "/cost")) {
        tell_cost(request);
    } else {
        answer(request, "hello");
    }
}

static void explain(void *context, int status, const char *reason, struct http_response *response)
{
    (void)context;
    (void)reason;
    response->status = status;
}

static void serve(int listener)
{
    const struct http_server_options options = {
        .listeners = &listener,
        .listener_count = 1,
        .connections = CONNECTIONS_MAX,
        .connections_per_address = 1,
        .memory = HTTP_MEMORY,
        .limits = {.head = USEC_PER_DAY, .body = USEC_PER_DAY, .idle = USEC_PER_DAY, .pace = 1},
        .handler = {.admit = admit, .handle = handle, .explain = explain},
    };
    struct error err = {0};
    struct loop *loop = NULL;
    struct http_server *server = NULL;

    if (!loop_open(&loop, &err) || !http_server_open(loop, &options, &server, &err) ||
        !loop_run(loop, &err))
        fprintf(stderr, "http-bench: %s\n", err.text);
    exit(EXIT_FAILURE);
}

static int open_listener(void)
{
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) ||
        listen(listener, 511) || getsockname(listener, (struct sockaddr *)&address, &length))
        die("http-bench: listen");
    return listener;
}

static pid_t start_server(void)
{
    const int listener = open_listener();
    const pid_t server = fork();

    if (server < 0)
        die("http-bench: fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    close(listener);
    return server;
}

/* The clients */

static int connect_one(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
        die("http-bench: connect");
    return fd;
}

/* Asks, and reads until the answer has that in it. */
static void ask(int fd, const char *path, const char *until, char answer[4096])
{
    char request[128];
    size_t length = 0;

    const int size =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    if (send(fd, request, (size_t)size, 0) != size)
        die("http-bench: send");
    do {
        const ssize_t count = recv(fd, answer + length, 4095 - length, 0);

        if (count <= 0)
            die("http-bench: recv");
        length += (size_t)count;
        answer[length] = '\0';
    } while (!strstr(answer, until));
}

struct cost {
    long kib;
    long long cpu;
};

static struct cost look(int fd, const char *path)
{
    struct cost cost = {0};
    char answer[4096];

    ask(fd, path, "\r\n\r\n", answer);
    const char *body = strstr(answer, "\r\n\r\n");

    if (sscanf(body + 4, "%ld %lld", &cost.kib, &cost.cpu) != 2) /* NOLINT: it is our own */
        die("http-bench: look");
    return cost;
}

static void print_memory(const char *what, int connections, struct cost before, struct cost now)
{
    printf("%-34s %8.1f MB %8.2f KiB each\n", what, (double)now.kib / 1024,
           (double)(now.kib - before.kib) / connections);
}

static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        die("http-bench: limit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        die("http-bench: limit");
}

static void measure(int *clients, int connections)
{
    const int observer = connect_one();
    char answer[4096];
    const struct cost start = look(observer, "/cost");

    for (int i = 0; i < connections; i++)
        clients[i] = connect_one();
    print_memory("connected, nothing asked yet", connections, start, look(observer, "/cost"));
    for (int i = 0; i < connections; i++)
        ask(clients[i], "/", "\r\n\r\n", answer);
    struct cost before = look(observer, "/cost");

    print_memory("idle after a request", connections, start, before);
    for (int i = 0; i < REQUESTS; i++)
        ask(clients[i % connections], "/", "\r\n\r\n", answer);
    printf("%-34s %8.1f us\n", "CPU time of a request among them",
           (double)(look(observer, "/cost").cpu - before.cpu) / REQUESTS);
    for (int i = 0; i < connections; i++)
        ask(clients[i], "/stream", "\r\n\r\n", answer);
    before = look(observer, "/cost");
    print_memory("streams", connections, start, before);
    for (int i = 0; i < ROUNDS; i++) {
        look(observer, "/broadcast");
        for (int j = 0; j < connections; j++)
            (void)!recv(clients[j], answer, sizeof answer, 0);
    }
    const struct cost after = look(observer, "/cost");

    print_memory("streams, after broadcasts", connections, start, after);
    printf("%-34s %8.1f ms\n", "CPU time of a broadcast",
           (double)(after.cpu - before.cpu) / ROUNDS / 1000);
}

static void serve_others(void)
{
    const int listener = open_listener();

    printf("127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    serve(listener);
}

int main(int argc, char **argv)
{
    static int clients[CONNECTIONS_MAX];
    int64_t connections = 10000;

    if (argc == 2 && text_equal(argv[1], "serve"))
        serve_others();
    if (argc > 1 && !text_to_int(argv[1], 1, CONNECTIONS_MAX, &connections)) {
        fprintf(stderr, "usage: http-bench [CONNECTIONS | serve], at most %d\n", CONNECTIONS_MAX);
        return 2;
    }
    raise_limit();
    const pid_t server = start_server();

    measure(clients, (int)connections);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return EXIT_SUCCESS;
}
