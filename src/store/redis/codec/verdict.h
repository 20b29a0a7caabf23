/*
 * verdict.h - what the scripts answer for one item, in one character.
 */
#ifndef REDIS_VERDICT_H
#define REDIS_VERDICT_H

#include "base/base.h"
#include "base/error.h"

enum th_error_code redis_verdict_of(char answer);

/* Several answers about one item, each of another queue: whoever knows the item is right. */
enum th_error_code redis_verdict_join(enum th_error_code known, char answer);

#endif
