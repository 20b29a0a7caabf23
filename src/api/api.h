/*
 * api.h - `thd: http`: the HTTP API.
 */
#ifndef API_API_H
#define API_API_H

struct process;

int api_main(struct process *process);

#endif
