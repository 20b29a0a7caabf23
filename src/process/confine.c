/*
 * confine.c - what a process that reads foreign bytes may still ask of the kernel.
 *
 * The table has what loop.c, channel.c, memory_file.c, the log, malloc() and a server of
 * connections need, and their twins on other machines: arm64 has epoll_pwait() where amd64 has
 * epoll_wait().
 */
#include "process/confine.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/* Whatever their arguments are. */
static const int allowed[] = {
    /* connections, and what our processes say to each other */
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(close),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockname),
    SCMP_SYS(getsockopt),
    SCMP_SYS(pread64),
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(setsockopt),
    SCMP_SYS(shutdown),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(memfd_create),
    /* waiting */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(timerfd_settime),
    /* the C library, for memory, locks, sorting and random numbers */
    SCMP_SYS(brk),
    SCMP_SYS(fstat),
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getrandom),
    SCMP_SYS(gettid),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(sysinfo),
    /* the end; abort() changes how signals are handled */
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
};

static const int file_commands[] = {
    F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS,
};

static bool check(int status, struct error *err)
{
    return status == 0 || error_errno(err, TH_E_INTERNAL, -status, "make a filter of system calls");
}

/* A call with one condition on an argument. */
static bool allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition,
                     struct error *err)
{
    return check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition), err);
}

static bool allow_all(scmp_filter_ctx filter, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        if (!check(seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0), err))
            return false;
    }
    return true;
}

static bool allow_file_commands(scmp_filter_ctx filter, struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(file_commands); i++) {
        if (!allow_if(filter, SCMP_SYS(fcntl), SCMP_A1_32(SCMP_CMP_EQ, (unsigned)file_commands[i]),
                      err))
            return false;
    }
    return true;
}

/* No memory to execute; only descriptors are looked at, as fstat() does it; only we ourselves are
 * signalled, as abort() does it. */
static bool allow_with_conditions(scmp_filter_ctx filter, struct error *err)
{
    return allow_if(filter, SCMP_SYS(mmap), SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0), err) &&
           allow_if(filter, SCMP_SYS(mprotect), SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                    err) &&
           allow_if(filter, SCMP_SYS(newfstatat),
                    SCMP_A3_32(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH), err) &&
           allow_if(filter, SCMP_SYS(tgkill), SCMP_A0_32(SCMP_CMP_EQ, (unsigned)getpid()), err) &&
           allow_file_commands(filter, err);
}

/* Calls of another machine, such as those of a 32-bit program, are numbered otherwise: they end the
 * process too. */
static bool load(scmp_filter_ctx filter, struct error *err)
{
    return check(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), err) &&
           allow_all(filter, err) && allow_with_conditions(filter, err) &&
           check(seccomp_load(filter), err);
}

static bool filter_calls(struct error *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

    if (!filter)
        return error_no_memory(err);
    const bool is_loaded = load(filter, err);
    seccomp_release(filter);
    return is_loaded;
}

bool confine_enter(struct error *err)
{
    tzset(); /* gmtime() reads the time zone's file the first time */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "give up new privileges");
    return IS_SANITIZED || filter_calls(err);
}
