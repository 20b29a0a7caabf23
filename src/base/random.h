/*
 * random.h - unpredictable bytes from the kernel.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/base.h"

/* Cannot fail: a kernel without getrandom() is a bug of the installation, and ends the process. */
void random_bytes(void *data, size_t length);

/* Uniform in [0, 1). */
double random_unit(void);

#endif
