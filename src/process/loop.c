/*
 * loop.c - file descriptors, timers, signals: all that wakes a process.
 *
 * One epoll has every watch, a timerfd for the first of the timers, and a signalfd. Signals are
 * blocked and read like any other input, so no code of ours runs in a handler.
 *
 * Invariants:
 *   - Timers are sorted; the timerfd is set when the first of them changes, just before waiting.
 *   - A watch that is taken off while its event is in hand is struck from the events in hand.
 */
#include "process/loop.h"

#include "base/clock.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 16

struct signal_call {
    void (*call)(void *context, int number);
    void *context;
};

struct loop {
    int epoll;
    struct loop_watch alarm, signals; /* their descriptors are owned */
    struct loop_timer *timers;
    usec_t alarm_at; /* what the timerfd is set to; 0: nothing */
    sigset_t caught;
    struct signal_call signal_calls[NSIG];
    void (*before_wait)(struct loop *loop, void *context);
    void *before_wait_context;
    struct epoll_event events[EVENTS_AT_ONCE];
    int event_count; /* of those in hand */
    bool stopped;
};

static void drain_alarm(void *context, unsigned events)
{
    struct loop *loop = context;
    uint64_t expirations;
    const ssize_t count = read(loop->alarm.fd, &expirations, sizeof expirations);

    /* EAGAIN: it was moved after it had rung. */
    assert(count == sizeof expirations || (count < 0 && errno == EAGAIN));
    (void)events;
    loop->alarm_at = 0;
}

static void read_signals(void *context, unsigned events)
{
    struct loop *loop = context;
    struct signalfd_siginfo info;

    (void)events;
    while (read(loop->signals.fd, &info, sizeof info) == (ssize_t)sizeof info) {
        const struct signal_call *caught = &loop->signal_calls[info.ssi_signo];

        caught->call(caught->context, (int)info.ssi_signo);
    }
}

static bool open_descriptors(struct loop *loop, struct error *err)
{
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->alarm.fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    loop->signals.fd = signalfd(-1, &loop->caught, SFD_CLOEXEC | SFD_NONBLOCK);
    if (loop->epoll < 0 || loop->alarm.fd < 0 || loop->signals.fd < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "open the event loop");
    return loop_watch(loop, &loop->alarm, LOOP_READ, err) &&
           loop_watch(loop, &loop->signals, LOOP_READ, err);
}

bool loop_open(struct loop **loop_out, struct error *err)
{
    struct loop *loop = calloc(1, sizeof *loop);

    if (!loop)
        return error_no_memory(err);
    loop->alarm = (struct loop_watch){.fd = -1, .call = drain_alarm, .context = loop};
    loop->signals = (struct loop_watch){.fd = -1, .call = read_signals, .context = loop};
    sigemptyset(&loop->caught);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    if (!open_descriptors(loop, err)) {
        loop_close(&loop);
        return false;
    }
    *loop_out = loop;
    return true;
}

static void close_if_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void loop_close(struct loop **loop)
{
    if (!*loop)
        return;
    close_if_open((*loop)->signals.fd);
    close_if_open((*loop)->alarm.fd);
    close_if_open((*loop)->epoll);
    free(*loop);
    *loop = NULL;
}

bool loop_watch(struct loop *loop, struct loop_watch *watch, unsigned events, struct error *err)
{
    struct epoll_event event = {.data.ptr = watch};

    assert(watch->call);
    if (events & LOOP_READ)
        event.events |= EPOLLIN;
    if (events & LOOP_WRITE)
        event.events |= EPOLLOUT;
    if (events & LOOP_ALONE)
        event.events |= EPOLLEXCLUSIVE;
    if (events & LOOP_NEWS)
        event.events |= EPOLLET;
    if (epoll_ctl(loop->epoll, watch->is_on ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch->fd, &event))
        return error_errno(err, TH_E_INTERNAL, errno, "watch a descriptor");
    watch->is_on = true;
    return true;
}

void loop_unwatch(struct loop *loop, struct loop_watch *watch)
{
    if (!watch->is_on)
        return;
    const int failed = epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    assert(!failed); /* it was closed before it was unwatched */
    watch->is_on = false;
    for (int i = 0; i < loop->event_count; i++) {
        if (loop->events[i].data.ptr == watch)
            loop->events[i].data.ptr = NULL;
    }
}

void loop_set_timer(struct loop *loop, struct loop_timer *timer, usec_t at)
{
    struct loop_timer **place = &loop->timers;

    assert(timer->call);
    loop_clear_timer(loop, timer);
    while (*place && (*place)->at <= at)
        place = &(*place)->next;
    timer->at = at;
    timer->next = *place;
    timer->is_on = true;
    *place = timer;
}

void loop_clear_timer(struct loop *loop, struct loop_timer *timer)
{
    struct loop_timer **place = &loop->timers;

    if (!timer->is_on)
        return;
    while (*place != timer)
        place = &(*place)->next;
    *place = timer->next;
    timer->is_on = false;
}

bool loop_catch(struct loop *loop, int number, void (*call)(void *context, int number),
                void *context, struct error *err)
{
    assert(number > 0 && number < NSIG);
    loop->signal_calls[number] = (struct signal_call){call, context};
    sigaddset(&loop->caught, number);
    if (sigprocmask(SIG_BLOCK, &loop->caught, NULL) ||
        signalfd(loop->signals.fd, &loop->caught, SFD_CLOEXEC | SFD_NONBLOCK) < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "catch signal %d", number);
    return true;
}

void loop_before_wait(struct loop *loop, void (*call)(struct loop *loop, void *context),
                      void *context)
{
    loop->before_wait = call;
    loop->before_wait_context = context;
}

/* A moment that has passed rings at once; 0 would switch the alarm off. */
static bool set_alarm(struct loop *loop, struct error *err)
{
    const usec_t at = loop->timers->at > 0 ? loop->timers->at : 1;
    const struct itimerspec spec = {
        .it_value = {.tv_sec = at / USEC_PER_SEC, .tv_nsec = at % USEC_PER_SEC * 1000},
    };

    if (loop->alarm_at != 0 && loop->alarm_at <= at)
        return true; /* one that rings too early only looks around */
    if (timerfd_settime(loop->alarm.fd, TFD_TIMER_ABSTIME, &spec, NULL))
        return error_errno(err, TH_E_INTERNAL, errno, "set a timer");
    loop->alarm_at = at;
    return true;
}

static void call_watches(struct loop *loop)
{
    for (int i = 0; i < loop->event_count; i++) {
        struct loop_watch *watch = loop->events[i].data.ptr;
        const uint32_t events = loop->events[i].events;
        unsigned ready = 0;

        if (!watch)
            continue;
        if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            ready |= LOOP_READ;
        if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            ready |= LOOP_WRITE;
        watch->call(watch->context, ready);
    }
    loop->event_count = 0;
}

/* One look at the clock: a timer that sets itself again is called in a later step. */
static void call_timers(struct loop *loop)
{
    if (!loop->timers)
        return;
    const usec_t now = clock_boot();

    while (loop->timers && loop->timers->at <= now) {
        struct loop_timer *timer = loop->timers;

        loop_clear_timer(loop, timer);
        timer->call(timer->context);
    }
}

static bool step(struct loop *loop, int timeout, struct error *err)
{
    assert(loop->event_count == 0); /* a callback must not step */
    if (loop->before_wait)
        loop->before_wait(loop, loop->before_wait_context);
    if (loop->timers && !set_alarm(loop, err))
        return false;
    const int count = epoll_wait(loop->epoll, loop->events, EVENTS_AT_ONCE, timeout);
    if (count < 0 && errno != EINTR)
        return error_errno(err, TH_E_INTERNAL, errno, "wait for events");
    loop->event_count = count < 0 ? 0 : count;
    call_watches(loop);
    call_timers(loop);
    return true;
}

bool loop_step(struct loop *loop, struct error *err)
{
    return step(loop, -1, err);
}

bool loop_glance(struct loop *loop, struct error *err)
{
    return step(loop, 0, err);
}

bool loop_run(struct loop *loop, struct error *err)
{
    loop->stopped = false;
    while (!loop->stopped) {
        if (!loop_step(loop, err))
            return false;
    }
    return true;
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
}
