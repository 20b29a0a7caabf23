/*
 * job_pack.h - a job in a pack: what a producer says of it, or all that a worker gets.
 *
 * Lengths are held against the limits that every store has; whether the job may be stored is said
 * by the store.
 */
#ifndef DOOR_JOB_PACK_H
#define DOOR_JOB_PACK_H

#include "base/base.h"

struct arena;
struct buffer;
struct job;
struct lease_token;
struct unpack;

/* The least that one takes in a pack. */
#define JOB_PACK_MIN 64

void job_pack_request(struct buffer *pack, const struct job *job);
void job_pack_record(struct buffer *pack, const struct job *job);

/* Texts lie in the pack, lists in the arena. */
void job_unpack_request(struct unpack *unpack, struct arena *arena, struct job *job_out);
void job_unpack_record(struct unpack *unpack, struct arena *arena, struct job *job_out);

void job_pack_token(struct buffer *pack, const struct lease_token *token);
struct lease_token job_unpack_token(struct unpack *unpack);

#endif
