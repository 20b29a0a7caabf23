/*
 * generation.c - one config, and all that was made of it before anything was forked.
 */
#include "master/generation.h"

#include "base/error.h"
#include "process/message.h"
#include "process/start_board.h"
#include "process/task_ring.h"
#include "worker/handlers.h"

#include <stdlib.h>
#include <unistd.h>

static void free_generation(struct generation *generation)
{
    for (size_t i = 0; i < COUNT_OF(generation->tasks); i++) {
        if (generation->tasks[i] >= 0)
            close(generation->tasks[i]);
    }
    task_ring_close(&generation->task_ring);
    start_board_close(&generation->start_board);
    arena_done(&generation->arena);
    config_done(&generation->config);
    free(generation);
}

bool generation_new(struct config *config, size_t holds, struct generation **generation_out,
                    struct error *err)
{
    struct generation *generation = calloc(1, sizeof *generation);

    if (!generation)
        return error_no_memory(err);
    *generation = (struct generation){.users = 1, .tasks = {-1, -1}};
    if (!handlers_prepare(config, &generation->arena, &generation->handlers, err) ||
        !message_pair(generation->tasks, err) ||
        !task_ring_open(holds, &generation->task_ring, err) ||
        !start_board_open(config->handler_count, &generation->start_board, err)) {
        free_generation(generation);
        return false;
    }
    generation->config = *config;
    *config = (struct config){0};
    *generation_out = generation;
    return true;
}

struct generation *generation_join(struct generation *generation)
{
    generation->users++;
    return generation;
}

void generation_leave(struct generation **generation)
{
    struct generation *left = *generation;

    *generation = NULL;
    if (left && --left->users == 0)
        free_generation(left);
}
