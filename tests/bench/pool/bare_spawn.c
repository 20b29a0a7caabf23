/*
 * bare_spawn.c - the limit that a pool of commands is measured against: nothing but posix_spawn()
 * and waitpid(), in so many processes at a time.
 *
 *     bare-spawn COUNT PARALLEL PROGRAM    prints the microseconds that it took
 */
#include "base/clock.h"
#include "base/text.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void spawn_all(const char *program, int64_t count)
{
    char *const arguments[] = {(char *)program, NULL};
    char *const environment[] = {NULL};
    int status;
    pid_t pid;

    for (int64_t i = 0; i < count; i++) {
        if (posix_spawn(&pid, program, NULL, NULL, arguments, environment) != 0 ||
            waitpid(pid, &status, 0) != pid || status != 0)
            _exit(EXIT_FAILURE);
    }
    _exit(EXIT_SUCCESS);
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
    int64_t count, parallel;

    if (argc != 4 || !text_to_int(argv[1], 1, 1000000, &count) ||
        !text_to_int(argv[2], 1, 1024, &parallel)) {
        fprintf(stderr, "usage: bare-spawn COUNT PARALLEL PROGRAM\n");
        return 2;
    }
    const usec_t start = clock_boot();
    for (int64_t i = 0; i < parallel; i++) {
        const pid_t pid = fork();

        if (pid < 0)
            return EXIT_FAILURE;
        if (pid == 0)
            spawn_all(argv[3], count / parallel + (i < count % parallel));
    }
    if (!wait_for_all())
        return EXIT_FAILURE;
    printf("%" PRId64 "\n", clock_boot() - start);
    return EXIT_SUCCESS;
}
