/*
 * decimal.h - numbers as they are written: compared exactly, however long they are.
 *
 * A number is one of JSON that has been checked. No binary floating point is involved, so 0.1 is a
 * tenth and a number of forty digits differs from its neighbour. The one limit: an exponent beyond
 * a quadrillion either way counts as a quadrillion.
 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include "base/base.h"

/* Less than, equal to or greater than 0, as a is to b. */
int decimal_compare(struct bytes a, struct bytes b);

/* Whether its value is: 1, 1.0 and 1e3 are, 1.5 is not. */
bool decimal_is_whole(struct bytes number);

/* Of a whole number from 0 on; what is too large becomes SIZE_MAX. False: it is not one. */
bool decimal_to_count(struct bytes number, size_t *count_out) MUST_CHECK;

#endif
