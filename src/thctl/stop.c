/*
 * stop.c - signals that end a long command, heard at a moment when it can tell how far it came.
 */
#include "thctl/stop.h"

#include <signal.h>

static const int signals[] = {SIGHUP, SIGINT, SIGTERM};

/* Written by the handler: there is no other way to hand it a place. */
static volatile sig_atomic_t noted;

static void note(int number)
{
    noted = number;
}

void stop_watch(void)
{
    /* Not SA_RESTART: a write that waits has to end. */
    const struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

bool stop_is_asked(void)
{
    return noted != 0;
}

void stop_obey(void)
{
    if (noted == 0)
        return;
    signal(noted, SIG_DFL);
    raise(noted);
}
