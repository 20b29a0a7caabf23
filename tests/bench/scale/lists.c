/*
 * lists.c - pages of every state: the newest, from the middle, of one queue.
 */
#include "bench/scale/operations.h"

const struct operation_list list_operations = {NULL, 0};
