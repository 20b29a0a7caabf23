/*
 * resident_line.h - what is said between a worker and a resident: one JSON object per line.
 *
 *     to it     {"id":…,"type":…,"queue":…,"attempt":1,"max_attempts":25,"execution":1,
 *                "deadline":1769853600,"headers":{…},"payload":…}
 *               {"id":…,"cancel":true}                       it has to give that job up
 *     from it   {"id":…,"progress":40,"text":"resizing"}     as often as it likes, and then
 *               {"id":…,"ok":true,"result":…}                or
 *               {"id":…,"ok":false,"error":"…","retry":false,"snooze":"30s"}
 *
 * A payload that is not JSON is sent as "payload_base64"; a job without headers has none in its
 * line. Unknown members are ignored, and those
 * that may be left out may also be null. man/taskharbor-protocols.7 is for those who write
 * residents.
 */
#ifndef WORKER_RESIDENT_LINE_H
#define WORKER_RESIDENT_LINE_H

#include "base/base.h"

struct arena;
struct buffer;
struct error;
struct handler_job;

#define RESIDENT_LINE_MAX ((size_t)256 * 1024) /* of what it says */

enum answer_kind {
    ANSWER_NONE, /* it only says how far it is */
    ANSWER_DONE,
    ANSWER_FAILED,
    ANSWER_PERMANENT, /* "retry":false, which beats a snooze */
    ANSWER_SNOOZE,
};

struct answer {
    const char *id; /* of the job that it is about; NULL: not said */
    enum answer_kind kind;
    struct bytes result; /* JSON as it was written; {NULL, 0}: none */
    const char *error;   /* NULL: none */
    usec_t snooze_for;
    int percent; /* -1: did not say */
    const char *text;
};

/* The line for a job, with its newline. `now` is wall time. */
void resident_line_write(const struct handler_job *job, usec_t now, struct buffer *line);

/* That it has to give the job up, with its newline. */
void resident_line_cancel(const char *id, struct buffer *line);

/* A line without its newline. The answer points into the line and the arena. Refused with
 * TH_E_INVALID and what is wrong with it; the id is given all the same, if there is one. */
bool resident_line_read(struct bytes line, struct arena *arena, struct answer *answer_out,
                        struct error *err) MUST_CHECK;

#endif
