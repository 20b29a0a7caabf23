/*
 * page.h - what browse answers most calls with: a page for people, ready to be shown.
 *
 * It has been written as JSON where the data is, so that a door only passes it on.
 */
#ifndef DOOR_PAGE_H
#define DOOR_PAGE_H

#include "base/base.h"

struct buffer;
struct error;
struct peer;

struct page {
    int status;        /* as HTTP counts: 200, 202, 204, 404 ... */
    struct bytes body; /* absent: none */
    const char *next;  /* of a list, the `after` of what follows; NULL: nothing does */
};

#define PAGE_NEXT_MAX 1024

/* Answers a call with it. */
bool page_answer(struct peer *peer, uint64_t serial, const struct page *page,
                 struct error *err) MUST_CHECK;

void page_pack(struct buffer *pack, const struct page *page);

/* Points into the pack. */
bool page_unpack(struct bytes pack, struct page *page_out, struct error *err) MUST_CHECK;

#endif
