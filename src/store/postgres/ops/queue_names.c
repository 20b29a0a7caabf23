/*
 * queue_names.c - the queues that a call is about.
 */
#include "store/postgres/ops/queue_names.h"

#include "store/postgres/net/statement.h"

#include <stdlib.h>
#include <string.h>

int pg_queue_names_add(struct pg_queue_names *names, const char *queue)
{
    /* From the end: the same one comes again and again. */
    for (size_t i = names->count; i > 0; i--)
        if (names->items[i - 1] == queue || strcmp(names->items[i - 1], queue) == 0)
            return (int)i;

    const char **items = reallocarray(names->items, names->count + 1, sizeof *items);
    if (!items)
        return 0;
    names->items = items;
    items[names->count++] = queue;
    return (int)names->count;
}

void pg_queue_names_bind(const struct pg_queue_names *names, struct pg_statement *statement)
{
    pg_statement_array(statement, ARRAY_TEXT);
    for (size_t i = 0; i < names->count; i++)
        pg_element_text(statement, names->items[i]);
}

void pg_queue_names_done(struct pg_queue_names *names)
{
    free(names->items);
    *names = (struct pg_queue_names){0};
}
