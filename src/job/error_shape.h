/*
 * error_shape.h - what errors of one kind have in common, whatever they are about.
 *
 *     Traceback (most recent call last):
 *       File "/srv/mail.py", line 12, in <module>
 *     KeyError: no customer 'Ann' in 0193f0a2-7c1d-7abc-8def-0123456789ab after 31 s
 *
 *     KeyError: no customer '…' in # after # s
 *
 * The line is the last that says something: no stack frame, nothing that is indented. In it numbers
 * and ids become '#', what stands in quotes '…', and paths and URLs '/…'.
 */
#ifndef JOB_ERROR_SHAPE_H
#define JOB_ERROR_SHAPE_H

#include "base/base.h"

#define ERROR_SHAPE_SIZE 256 /* with the NUL */

/* Of any bytes; the shape is UTF-8 without control characters. "" where nothing is said. */
void error_shape(struct bytes error, char shape_out[ERROR_SHAPE_SIZE]);

#endif
