/*
 * signal_name.h - what people call a signal.
 */
#ifndef BASE_SIGNAL_NAME_H
#define BASE_SIGNAL_NAME_H

#define SIGNAL_NAME_SIZE 24

/* "SIGKILL"; of one without a name "signal 40". */
const char *signal_name(int number, char text[SIGNAL_NAME_SIZE]);

#endif
