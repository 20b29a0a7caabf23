/*
 * process.c - the first and last steps of every process below the master.
 */
#include "process/process.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "process/title.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LOG_PAUSE (50 * USEC_PER_MSEC)

/* What the master acts on, for all of us. */
static const int ignored_signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP};

/* They were blocked when the master forked, so none was acted on before it is ignored. */
static bool ignore_signals(struct error *err)
{
    sigset_t none;

    for (size_t i = 0; i < COUNT_OF(ignored_signals); i++) {
        if (signal(ignored_signals[i], SIG_IGN) == SIG_ERR)
            return error_errno(err, TH_E_INTERNAL, errno, "ignore signal %d", ignored_signals[i]);
    }
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL))
        return error_errno(err, TH_E_INTERNAL, errno, "unblock signals");
    return true;
}

/* A service has nothing to clear up, and may be inside a call of the store when the master dies. */
static bool die_with_master(struct error *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "die with the master");
    return true;
}

static void lose_master(struct process *process)
{
    if (process->bereaved)
        process->bereaved(process->context);
    else
        _exit(PROCESS_FAILED);
}

/* Being here to hear it is the answer. */
static void show_pulse(struct process *process)
{
    const struct report report = {.kind = REPORT_PULSE, .serial = process->serial};
    struct error err;

    if (!process_report(process, &report, &err))
        process_stop(process, process_fail(&err));
}

static void follow(struct process *process, const struct order *order, int fd)
{
    if (order->kind == ORDER_PULSE) {
        show_pulse(process);
        return;
    }
    if (process->obey) {
        process->obey(process->context, order, fd);
        return;
    }
    if (fd >= 0)
        close(fd);
    if (order->kind == ORDER_EXIT)
        process_stop(process, PROCESS_OK);
}

static enum delivery hear_order(struct process *process)
{
    struct error err;
    struct order order;
    int fd = -1;
    const enum delivery delivery = order_receive(process->control, &order, &fd, &err);

    switch (delivery) {
    case DELIVERY_DONE:
        follow(process, &order, fd);
        break;
    case DELIVERY_NONE:
        break;
    case DELIVERY_CLOSED:
        loop_unwatch(process->loop, &process->control_watch);
        lose_master(process);
        break;
    case DELIVERY_FAILED:
        process_stop(process, process_fail(&err));
        break;
    }
    return delivery;
}

static void hear_orders(void *context, unsigned events)
{
    (void)events;
    while (hear_order(context) == DELIVERY_DONE)
        continue;
}

static void flush_log(void *context)
{
    (void)context;
    log_flush();
}

static void set_log_timer(struct loop *loop, void *context)
{
    struct loop_timer *timer = context;

    if (log_is_behind() && !timer->is_on)
        loop_set_timer(loop, timer, clock_boot() + LOG_PAUSE);
}

void process_tend_log(struct loop *loop, struct loop_timer *timer)
{
    *timer = (struct loop_timer){.call = flush_log};
    loop_before_wait(loop, set_log_timer, timer);
}

bool process_begin(struct process *process, struct error *err)
{
    title_set("thd: %s", process->name);
    log_set_process(process->name);
    process->control_watch =
        (struct loop_watch){.fd = process->control, .call = hear_orders, .context = process};
    if (!ignore_signals(err) || (process->number == 0 && !die_with_master(err)) ||
        !loop_open(&process->loop, err))
        return false;
    process_tend_log(process->loop, &process->log_timer);
    return loop_watch(process->loop, &process->control_watch, LOOP_READ, err);
}

bool process_ready(struct process *process, struct error *err)
{
    const struct report report = {.kind = REPORT_READY, .serial = process->serial};

    return process_report(process, &report, err);
}

/* The master never waits for anybody, so it may be waited for: it reads soon, or is gone. */
static bool wait_for_room(int socket, struct error *err)
{
    struct pollfd room = {.fd = socket, .events = POLLOUT};

    if (poll(&room, 1, -1) < 0 && errno != EINTR)
        return error_errno(err, TH_E_INTERNAL, errno, "wait for the master to listen");
    return true;
}

bool process_report(struct process *process, const struct report *report, struct error *err)
{
    enum delivery delivery = report_send(process->control, report, err);

    while (delivery == DELIVERY_NONE) {
        if (!wait_for_room(process->control, err))
            return false;
        delivery = report_send(process->control, report, err);
    }
    if (delivery == DELIVERY_CLOSED)
        return error_set(err, TH_E_INTERNAL, "the master is gone");
    return delivery == DELIVERY_DONE;
}

int process_run(struct process *process)
{
    struct error err;

    if (!loop_run(process->loop, &err))
        return process_fail(&err);
    return process->exit_code;
}

void process_stop(struct process *process, int exit_code)
{
    process->exit_code = exit_code;
    process->has_stopped = true;
    loop_stop(process->loop);
}

const char *process_caller(const struct process *process, char text[PROCESS_CALLER_SIZE])
{
    snprintf(text, PROCESS_CALLER_SIZE, "thd: %s pool=%s", process->name, process->pool);
    return text;
}

int process_fail(const struct error *err)
{
    log_error("process_failed", "error=%s", err->text);
    return PROCESS_FAILED;
}
