/*
 * channel.h - one letter over a socket pair: whole or not at all, and never taken for another.
 *
 *     stamp: kind, sizes | head: a struct | texts, one after the other       perhaps a descriptor
 *
 * The structs of message.h travel in letters. Whoever receives says what it expects; a letter of
 * another kind, or whose sizes do not add up, is refused: a worker may send what it likes.
 */
#ifndef PROCESS_CHANNEL_H
#define PROCESS_CHANNEL_H

#include "base/base.h"
#include "process/message.h"

struct arena;
struct error;

#define LETTER_TEXTS 5

enum letter_kind {
    LETTER_ORDER = 1,
    LETTER_REPORT,
    LETTER_TASK,
    LETTER_RESULT,
    LETTER_HALT,
    LETTER_CALL,   /* door/call.h */
    LETTER_ANSWER, /* the same */
};

struct letter {
    enum letter_kind kind;
    void *head;
    size_t head_size;
    struct bytes texts[LETTER_TEXTS]; /* absent ones arrive as absent */
    size_t text_count;
    int fd;        /* goes along unless it is -1 */
    bool takes_fd; /* of one that is expected: a descriptor may come along */
};

/* The descriptor stays the caller's. */
enum delivery channel_send(int socket, const struct letter *letter, struct error *err);

/* Kind, sizes and takes_fd are what is expected; head, texts and fd are filled in. Texts are copied
 * into the arena, each followed by a NUL, and `fd` is the caller's. */
enum delivery channel_receive(int socket, struct arena *arena, struct letter *letter,
                              struct error *err);

/* The same for the next letter that has not been looked at; it stays there. One that is refused
 * counts as looked at. */
enum delivery channel_look(int socket, struct arena *arena, struct letter *letter,
                           struct error *err);

/* The same in memory that two processes share: what channel_send() would send. 0: no room. */
size_t letter_pack(const struct letter *letter, unsigned char *out, size_t room);
bool letter_unpack(struct bytes packed, struct arena *arena, struct letter *letter,
                   struct error *err) MUST_CHECK;

#endif
