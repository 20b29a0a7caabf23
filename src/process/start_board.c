/*
 * start_board.c - which handlers cannot be started.
 *
 * A place has a sequence that is odd while it is written: a reader that meets a writer looks again.
 */
#include "process/start_board.h"

#include "base/error.h"
#include "process/shared_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define READ_TRIES 100

struct place {
    _Atomic uint32_t sequence;
    struct start_failure failure; /* since is 0: there is none */
};

struct start_board {
    size_t handlers;
    size_t size; /* in whole pages */
    unsigned char *memory;
};

static struct place *place_at(const struct start_board *board, size_t handler)
{
    return (struct place *)(void *)board->memory + handler;
}

bool start_board_open(size_t handlers, struct start_board **board_out, struct error *err)
{
    struct start_board *board = calloc(1, sizeof *board);

    if (!board)
        return error_no_memory(err);
    board->handlers = handlers;
    board->size = shared_memory_pages((handlers + 1) * sizeof(struct place));
    if (!shared_memory_map(board->size, "the board of handlers", &board->memory, err)) {
        free(board);
        return false;
    }
    *board_out = board;
    return true;
}

void start_board_close(struct start_board **board)
{
    if (*board) {
        munmap((*board)->memory, (*board)->size);
        free(*board);
    }
    *board = NULL;
}

bool start_board_restrict(struct start_board *board, struct error *err)
{
    if (mprotect(board->memory, board->size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "protect the board of handlers");
    return true;
}

void start_board_set(struct start_board *board, size_t handler, const struct start_failure *failure)
{
    struct place *place = place_at(board, handler);
    const uint32_t before = atomic_load_explicit(&place->sequence, memory_order_relaxed);

    atomic_store_explicit(&place->sequence, before | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    place->failure = failure ? *failure : (struct start_failure){0};
    atomic_store_explicit(&place->sequence, (before | 1) + 1, memory_order_release);
}

void start_board_clear(struct start_board *board)
{
    for (size_t i = 0; i < board->handlers; i++)
        start_board_set(board, i, NULL);
}

static bool read_once(struct place *place, struct start_failure *failure_out)
{
    const uint32_t before = atomic_load_explicit(&place->sequence, memory_order_acquire);

    *failure_out = place->failure;
    atomic_thread_fence(memory_order_acquire);
    return before % 2 == 0 &&
           atomic_load_explicit(&place->sequence, memory_order_relaxed) == before;
}

bool start_board_get(const struct start_board *board, size_t handler,
                     struct start_failure *failure_out)
{
    for (int i = 0; i < READ_TRIES; i++)
        if (read_once(place_at(board, handler), failure_out))
            return failure_out->since != 0;
    return false; /* a dispatcher died while it wrote: the next one clears it */
}
