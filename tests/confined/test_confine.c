/*
 * test_confine.c - what a confined process may do, and what ends it.
 *
 * A program of its own, built without the sanitizers: under them there is no filter.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "process/confine.h"
#include "process/loop.h"
#include "process/memory_file.h"
#include "process/message.h"

#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANNOT_CONFINE 99
#define DID_NOT_WORK   98

static struct error err;

/* How a process ends that is confined and then does this. */
static int end_of(void (*act)(void))
{
    int status;
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (!confine_enter(&err))
            _exit(CANNOT_CONFINE);
        act();
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

/* ---- what ends it ---- */

static void open_file(void)
{
    (void)!open("/etc/passwd", O_RDONLY);
}

static void make_file(void)
{
    (void)!open("made", O_CREAT | O_WRONLY, 0600);
}

static void remove_file(void)
{
    (void)!unlink("nothing");
}

static void look_at_file(void)
{
    struct stat found;

    (void)!stat("/etc/passwd", &found);
}

static void open_socket(void)
{
    (void)!socket(AF_INET, SOCK_STREAM, 0);
}

static void bind_socket(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET};

    (void)!bind(STDIN_FILENO, (const struct sockaddr *)&address, sizeof address);
}

static void connect_socket(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET};

    (void)!connect(STDIN_FILENO, (const struct sockaddr *)&address, sizeof address);
}

static void run_program(void)
{
    char *const arguments[] = {(char *)"true", NULL};

    (void)!execv("/bin/true", arguments);
}

static void fork_another(void)
{
    if (fork() == 0)
        _exit(EXIT_SUCCESS);
}

static void kill_parent(void)
{
    kill(getppid(), 0);
}

static void kill_parent_thread(void)
{
    tgkill(getppid(), getppid(), 0);
}

static void map_code(void)
{
    (void)!mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void turn_data_into_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void duplicate_descriptor(void)
{
    (void)!fcntl(STDIN_FILENO, F_DUPFD, 0);
}

static void change_user(void)
{
    (void)!setuid(getuid());
}

static void outlive_the_master(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
}

static const struct {
    const char *rule;
    void (*act)(void);
} forbidden[] = {
    {"opens no file", open_file},
    {"makes no file", make_file},
    {"removes no file", remove_file},
    {"looks at no path", look_at_file},
    {"opens no socket", open_socket},
    {"listens nowhere else", bind_socket},
    {"connects to nobody", connect_socket},
    {"runs no program", run_program},
    {"does not fork", fork_another},
    {"signals nobody", kill_parent},
    {"signals no thread of others", kill_parent_thread},
    {"maps no code", map_code},
    {"makes no code of data", turn_data_into_code},
    {"makes no copies of descriptors", duplicate_descriptor},
    {"does not become somebody else", change_user},
    {"does not outlive the master", outlive_the_master},
};

START_TEST(a_confined_process_is_killed_when_it_tries)
{
    const int status = end_of(forbidden[_i].act);

    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: status %#x",
                  forbidden[_i].rule, (unsigned)status);
}
END_TEST

/* ---- what it needs ---- */

static int ends[2], listener;
static struct loop *loop;

static void insist(bool works)
{
    if (!works)
        _exit(DID_NOT_WORK);
}

static void send_and_receive(void)
{
    const struct report report = {.kind = REPORT_READY, .serial = 7};
    struct report got;

    insist(report_send(ends[0], &report, &err) == DELIVERY_DONE);
    insist(report_receive(ends[1], &got, &err) == DELIVERY_DONE && got.serial == 7);
}

static void pass_a_long_text(void)
{
    static const char text[] = "long";
    struct arena arena = {0};
    struct bytes got;
    int fd;

    insist(memory_file_make("text", (struct bytes){(const unsigned char *)text, 4}, &fd, &err));
    insist(memory_file_read("text", fd, 4, &arena, &got, &err) && memcmp(got.data, text, 4) == 0);
    arena_done(&arena);
}

static void pass_a_descriptor(void)
{
    const struct order order = {.kind = ORDER_PULSE};
    struct order got;
    int fd;

    insist(order_send(ends[0], &order, ends[1], &err) == DELIVERY_DONE);
    insist(order_receive(ends[1], &got, &fd, &err) == DELIVERY_DONE && fd >= 0);
    insist(close(fd) == 0);
}

static void stop_loop(void *context)
{
    (void)context;
    loop_stop(loop);
}

static void hear(void *context, unsigned events)
{
    (void)context;
    (void)events;
}

static void run_the_loop(void)
{
    struct loop_watch watch = {.fd = listener, .call = hear};
    struct loop_timer timer = {.call = stop_loop};

    insist(loop_watch(loop, &watch, LOOP_READ, &err));
    loop_set_timer(loop, &timer, clock_boot() + 1);
    insist(loop_run(loop, &err));
    loop_unwatch(loop, &watch);
}

static void take_a_connection(void)
{
    const int one = 1;
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    char word[4];
    const int connection = accept4(listener, (struct sockaddr *)&peer, &size, SOCK_NONBLOCK);

    insist(connection >= 0 && recv(connection, word, sizeof word, MSG_PEEK) == 2);
    setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    insist(recv(connection, word, sizeof word, 0) == 2 && send(connection, word, 2, 0) == 2);
    insist(shutdown(connection, SHUT_RDWR) == 0 && close(connection) == 0);
}

static void allocate(void)
{
    struct stat found;

    for (size_t size = 1; size < (size_t)64 << 20; size *= 2) {
        char *memory = malloc(size);

        insist(memory);
        memset(memory, 1, size);
        char *larger = realloc(memory, 2 * size);
        insist(larger);
        free(larger);
    }
    insist(fstat(STDERR_FILENO, &found) == 0);
}

static void say_what_day_it_is(void)
{
    const time_t moment = 0;
    struct tm day;

    insist(gmtime_r(&moment, &day) && day.tm_year == 70);
}

static void compare_secrets(void)
{
    const struct bytes secret = {(const unsigned char *)"secret", 6};
    struct digest key, digest;

    insist(digest_of(secret, &key) && digest_keyed(&key, secret, &digest));
    insist(!digest_equal(&key, &digest));
}

static const struct {
    const char *rule;
    void (*act)(void);
} needed[] = {
    {"says what day it is", say_what_day_it_is},
    {"sends and receives", send_and_receive},
    {"passes a long text", pass_a_long_text},
    {"passes a descriptor", pass_a_descriptor},
    {"waits in its loop", run_the_loop},
    {"takes a connection", take_a_connection},
    {"has memory", allocate},
    {"compares secrets", compare_secrets},
};

static void open_pair(void)
{
    ck_assert_msg(message_pair(ends, &err), "%s", err.text);
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    ck_assert_msg(digest_prepare(&err), "%s", err.text);
}

/* Somebody is connected, and has said two bytes. */
static void open_listener(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(send(client, "hi", 2, 0), 2);
}

START_TEST(a_confined_process_does_what_it_is_for)
{
    open_pair();
    open_listener();
    const int status = end_of(needed[_i].act);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %#x", needed[_i].rule,
                  (unsigned)status);
}
END_TEST

START_TEST(a_bug_in_a_confined_process_ends_it_as_it_ends_others)
{
    const int status = end_of(abort);

    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("process/confine");
    TCase *calls = tcase_create("calls");
    SRunner *runner = srunner_create(suite);

    tcase_add_loop_test(calls, a_confined_process_is_killed_when_it_tries, 0, COUNT_OF(forbidden));
    tcase_add_loop_test(calls, a_confined_process_does_what_it_is_for, 0, COUNT_OF(needed));
    tcase_add_test(calls, a_bug_in_a_confined_process_ends_it_as_it_ends_others);
    suite_add_tcase(suite, calls);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
