/*
 * meters_text.h - all that the meters have counted, as Prometheus reads it.
 */
#ifndef PROCESS_METERS_TEXT_H
#define PROCESS_METERS_TEXT_H

struct buffer;
struct meters;

void meters_write(const struct meters *meters, struct buffer *out);

#endif
