/*
 * signal_name.c - what people call a signal.
 */
#include "base/signal_name.h"

#include <stdio.h>
#include <string.h>

const char *signal_name(int number, char text[SIGNAL_NAME_SIZE])
{
    const char *name = sigabbrev_np(number);

    if (name)
        snprintf(text, SIGNAL_NAME_SIZE, "SIG%s", name);
    else
        snprintf(text, SIGNAL_NAME_SIZE, "signal %d", number);
    return text;
}
