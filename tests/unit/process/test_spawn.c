/*
 * test_spawn.c - what a program sees of the one that started it.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "process/account.h"
#include "process/nobody.h"
#include "process/spawn.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const environment[] = {"PATH=/usr/bin:/bin", "A=b c", NULL};

static struct error err;
static struct arena arena;
static struct buffer printed = BUFFER(65536);

static void forget(void)
{
    arena_done(&arena);
    buffer_done(&printed);
}

static struct spawn spawn_of(const char *const *argv)
{
    return (struct spawn){
        .argv = argv,
        .environment = environment,
        .fds = {-1, -1, -1, -1},
        .umask = SPAWN_KEEP,
    };
}

/* Runs it with all four descriptors on one pipe or /dev/null; what it printed is in `printed`. */
static int run(struct spawn *spawn)
{
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct child child;
    int ends[2];
    int status;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    for (int i = 0; i < SPAWN_FDS; i++)
        spawn->fds[i] = i == 1 || i == 2 ? ends[1] : null;
    ck_assert_msg(spawn_start(spawn, &child, &err), "%s", err.text);
    close(ends[1]);
    ck_assert(io_read_all(ends[0], "the program", &printed, &err));
    close(ends[0]);
    ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
    close(child.pidfd);
    return status;
}

static const char *output_of(const char *const *argv)
{
    struct spawn spawn = spawn_of(argv);

    ck_assert_int_eq(run(&spawn), 0);
    return buffer_str(&printed);
}

static const char *output_of_shell(struct spawn *spawn, const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    spawn->argv = argv;
    ck_assert_int_eq(run(spawn), 0);
    return buffer_str(&printed);
}

#define LIST_DESCRIPTORS                                                                           \
    "i=0; while [ $i -lt 300 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done; exit 0"

START_TEST(a_program_sees_exactly_four_descriptors)
{
    struct spawn spawn = spawn_of(NULL);

    for (int fd = 20; fd < 300; fd += 40)
        ck_assert_int_eq(dup2(1, fd), fd);
    ck_assert_str_eq(output_of_shell(&spawn, LIST_DESCRIPTORS), "0\n1\n2\n3\n");
}
END_TEST

/* In a process of its own, whose descriptors 0 to 3 are the given ones in reverse. */
static void spawn_from_low_descriptors(struct spawn *spawn)
{
    struct child child;

    for (int i = 0; i < SPAWN_FDS; i++) {
        if (dup2(spawn->fds[i], 3 - i) < 0)
            _exit(1);
        spawn->fds[i] = 3 - i;
    }
    if (!spawn_start(spawn, &child, &err) || waitpid(child.pid, NULL, 0) < 0)
        _exit(2);
    _exit(0);
}

START_TEST(descriptors_may_be_given_in_any_order)
{
    static const char *const argv[] = {"/bin/sh", "-c",
                                       "echo 0 >&0; echo 1; echo 2 >&2; echo 3 >&3", NULL};
    struct spawn spawn = spawn_of(argv);
    int reads[SPAWN_FDS];
    int status;

    for (int i = 0; i < SPAWN_FDS; i++) {
        int ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        reads[i] = ends[0];
        spawn.fds[i] = fcntl(ends[1], F_DUPFD_CLOEXEC, 50);
        close(ends[1]);
    }
    const pid_t parent = fork();
    if (parent == 0)
        spawn_from_low_descriptors(&spawn);
    ck_assert_int_eq(waitpid(parent, &status, 0), parent);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < SPAWN_FDS; i++) {
        char text[2] = "";

        ck_assert_int_eq(read(reads[i], text, sizeof text), 2);
        ck_assert_int_eq(text[0], '0' + i);
    }
}
END_TEST

START_TEST(a_descriptor_may_be_left_closed)
{
    static const char *const argv[] = {"/bin/sh", "-c", "[ ! -e /proc/self/fd/3 ]", NULL};
    struct spawn spawn = spawn_of(argv);
    struct child child;
    int status = -1;

    for (int i = 0; i < 3; i++)
        spawn.fds[i] = i;
    ck_assert(spawn_start(&spawn, &child, &err));
    ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
    close(child.pidfd);
    ck_assert_int_eq(status, 0);
}
END_TEST

static void handler(int number)
{
    (void)number;
}

START_TEST(every_signal_is_default_and_none_is_blocked)
{
    static const char *const argv[] = {"/bin/sed", "-nE", "/^Sig(Blk|Ign|Cgt)/p",
                                       "/proc/self/status", NULL};
    sigset_t all, after;

    for (int number = 1; number < NSIG; number++)
        signal(number, number % 2 ? SIG_IGN : handler);
    signal(SIGCHLD, SIG_DFL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    ck_assert_str_eq(output_of(argv), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
                                      "SigCgt:\t0000000000000000\n");
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_msg(sigismember(&after, SIGTERM) == 1, "our own mask stays");
    ck_assert_msg(signal(SIGUSR1, SIG_DFL) == handler || signal(SIGUSR2, SIG_DFL) == handler,
                  "our own handlers stay");
}
END_TEST

START_TEST(the_environment_is_exactly_what_was_given)
{
    static const char *const argv[] = {"/usr/bin/env", NULL};

    setenv("SECRET", "x", 1);
    ck_assert_str_eq(output_of(argv), "PATH=/usr/bin:/bin\nA=b c\n");
}
END_TEST

START_TEST(a_program_leads_its_session_and_group)
{
    struct spawn spawn = spawn_of(NULL);

    ck_assert_str_eq(output_of_shell(&spawn, "set -- $(cut -d' ' -f1,5,6 /proc/$$/stat);"
                                             "[ $1 = $2 ] && [ $1 = $3 ] && echo yes"),
                     "yes\n");
}
END_TEST

START_TEST(folder_umask_and_nice_are_set)
{
    struct spawn spawn = spawn_of(NULL);

    spawn.cwd = "/usr/bin";
    spawn.umask = 027;
    spawn.nice = 7;
    ck_assert_str_eq(output_of_shell(&spawn, "pwd; umask; nice; grep NoNew /proc/$$/status"),
                     "/usr/bin\n0027\n7\nNoNewPrivs:\t1\n");
}
END_TEST

START_TEST(limits_are_set_and_rounded_up)
{
    struct spawn spawn = spawn_of(NULL);

    if (under_valgrind())
        return;
    spawn.limits = (struct spawn_limits){.memory = 256 << 20, .cpu = 1500000, .files = 77};
    ck_assert_str_eq(output_of_shell(&spawn, "ulimit -v; ulimit -t; ulimit -Ht; ulimit -n"),
                     "262144\n2\n3\n77\n");
}
END_TEST

START_TEST(a_lower_limit_that_holds_already_stays)
{
    struct spawn spawn = spawn_of(NULL);
    const struct rlimit low = {50, 50};

    if (under_valgrind())
        return;
    nobody_become();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    spawn.limits.files = 100;
    ck_assert_str_eq(output_of_shell(&spawn, "ulimit -n"), "50\n");
}
END_TEST

START_TEST(set_user_id_programs_work_only_if_allowed)
{
    struct spawn spawn = spawn_of(NULL);

    spawn.may_gain_privileges = true;
    ck_assert_str_eq(output_of_shell(&spawn, "grep NoNew /proc/$$/status"), "NoNewPrivs:\t0\n");
}
END_TEST

START_TEST(another_user_is_that_user_in_every_way)
{
    struct spawn spawn = spawn_of(NULL);
    struct account account;

    if (geteuid() != 0)
        return;
    ck_assert(account_find("nobody", &arena, &account, &err));
    spawn.account = &account;
    ck_assert_str_eq(output_of_shell(&spawn, "grep -E '^(Uid|Gid|Groups|CapPrm):' /proc/$$/status"),
                     "Uid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n"
                     "Groups:\t65534 \nCapPrm:\t0000000000000000\n");
}
END_TEST

START_TEST(a_name_without_a_slash_is_looked_for_in_the_path)
{
    static const char *const argv[] = {"true", NULL};
    struct spawn spawn = spawn_of(argv);

    spawn.path = "/nowhere::/etc/passwd:/usr/bin";
    ck_assert_int_eq(run(&spawn), 0);
    ck_assert_str_eq(spawn.argv[0], "true");
}
END_TEST

static const struct {
    const char *rule;
    const char *program;
    const char *path;
    const char *cwd;
    const char *user;
    bool as_nobody;
    const char *text;
} failures[] = {
    {"a program that is not there", "/nowhere/x", NULL, NULL, NULL, false,
     "exec /nowhere/x: No such file or directory"},
    {"one that cannot be run", "/etc/passwd", NULL, NULL, NULL, false,
     "exec /etc/passwd: Permission denied"},
    {"a folder", "/etc", NULL, NULL, NULL, false, "exec /etc: Permission denied"},
    {"no name at all", "", "/usr/bin", NULL, NULL, false, "exec : No such file or directory"},
    {"one that is in no folder of the path", "no-such-program", "/usr/bin:/bin", NULL, NULL, false,
     "exec no-such-program: No such file or directory"},
    {"one that is there but not to be run", "passwd", "/etc:/bin/nowhere", NULL, NULL, false,
     "exec passwd: Permission denied"},
    {"a folder that is not there", "/bin/true", NULL, "/nowhere", NULL, false,
     "change to folder /nowhere: No such file or directory"},
    {"a folder that the user may not enter", "/bin/true", NULL, "/root", "nobody", false,
     "change to folder /root: Permission denied"},
    {"a user that we may not become", "/bin/true", NULL, NULL, "root", true,
     "change to user root: Operation not permitted"},
};

START_TEST(a_program_that_cannot_start_tells_the_step_and_leaves_nothing)
{
    const char *const argv[] = {failures[_i].program, NULL};
    struct spawn spawn = spawn_of(argv);
    struct account account;
    struct child child;
    const int before = dup(0);

    if (failures[_i].user && !failures[_i].as_nobody && geteuid() != 0)
        return;
    if (failures[_i].as_nobody)
        nobody_become();
    spawn.path = failures[_i].path;
    spawn.cwd = failures[_i].cwd;
    if (failures[_i].user) {
        ck_assert(account_find(failures[_i].user, &arena, &account, &err));
        spawn.account = &account;
    }
    ck_assert_msg(!spawn_start(&spawn, &child, &err), "%s", failures[_i].rule);
    ck_assert_str_eq(err.text, failures[_i].text);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(dup(0), before + 1);
}
END_TEST

START_TEST(the_pidfd_is_readable_when_the_program_has_ended)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct spawn spawn = spawn_of(argv);
    struct child child;

    ck_assert(spawn_start(&spawn, &child, &err));
    struct pollfd ended = {.fd = child.pidfd, .events = POLLIN};
    ck_assert_int_eq(poll(&ended, 1, -1), 1);
    ck_assert_int_eq(fcntl(child.pidfd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(waitpid(child.pid, NULL, WNOHANG), child.pid);
    close(child.pidfd);
}
END_TEST

static void spawn_and_wait(int tell, bool other_user)
{
    static const char *const argv[] = {"/bin/sleep", "1000", NULL};
    struct spawn spawn = spawn_of(argv);
    struct account account;
    struct child child;

    if (other_user) {
        ck_assert(account_find("nobody", &arena, &account, &err));
        spawn.account = &account;
    }
    ck_assert(spawn_start(&spawn, &child, &err));
    ck_assert(io_write_all(tell, &child.pid, sizeof child.pid, &err));
    pause();
}

START_TEST(a_program_dies_with_its_parent)
{
    pid_t program;
    int ends[2];
    int status;

    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t parent = fork();
    if (parent == 0)
        spawn_and_wait(ends[1], _i == 1 && geteuid() == 0);
    ck_assert_int_eq(read(ends[0], &program, sizeof program), (ssize_t)sizeof program);
    kill(parent, SIGKILL);
    ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
    ck_assert_int_eq(waitpid(program, &status, 0), program);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

static TCase *seen_case(const char *name)
{
    TCase *seen = tcase_create(name);

    tcase_add_checked_fixture(seen, NULL, forget);
    tcase_add_test(seen, a_program_sees_exactly_four_descriptors);
    tcase_add_test(seen, descriptors_may_be_given_in_any_order);
    tcase_add_test(seen, a_descriptor_may_be_left_closed);
    tcase_add_test(seen, every_signal_is_default_and_none_is_blocked);
    tcase_add_test(seen, the_environment_is_exactly_what_was_given);
    tcase_add_test(seen, a_program_leads_its_session_and_group);
    tcase_add_test(seen, folder_umask_and_nice_are_set);
    tcase_add_test(seen, limits_are_set_and_rounded_up);
    tcase_add_test(seen, a_lower_limit_that_holds_already_stays);
    tcase_add_test(seen, set_user_id_programs_work_only_if_allowed);
    tcase_add_test(seen, another_user_is_that_user_in_every_way);
    tcase_add_test(seen, a_name_without_a_slash_is_looked_for_in_the_path);
    tcase_add_test(seen, the_pidfd_is_readable_when_the_program_has_ended);
    return seen;
}

Suite *spawn_suite(void)
{
    Suite *suite = suite_create("process/spawn");
    TCase *as_nobody = seen_case("as nobody");
    TCase *ends = tcase_create("ends");

    suite_add_tcase(suite, seen_case("seen"));
    tcase_add_checked_fixture(as_nobody, nobody_become, NULL);
    suite_add_tcase(suite, as_nobody);

    tcase_add_checked_fixture(ends, NULL, forget);
    tcase_add_loop_test(ends, a_program_that_cannot_start_tells_the_step_and_leaves_nothing, 0,
                        COUNT_OF(failures));
    tcase_add_loop_test(ends, a_program_dies_with_its_parent, 0, 2);
    suite_add_tcase(suite, ends);
    return suite;
}
