/*
 * excerpt.h - what somebody wrote, short and safe enough to repeat in a message.
 */
#ifndef BASE_EXCERPT_H
#define BASE_EXCERPT_H

#define EXCERPT_SIZE 48

/* Printable ASCII as it is, any other byte as \xNN; cut with "..." when longer. Returns `out`. */
const char *excerpt_of(const char *text, char out[EXCERPT_SIZE]);

#endif
