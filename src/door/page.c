/*
 * page.c - what browse answers most calls with.
 */
#include "door/page.h"

#include "door/pack.h"

void page_pack(struct buffer *pack, const struct page *page)
{
    pack_number(pack, page->status);
    pack_bytes(pack, page->body);
    pack_text(pack, page->next);
}

bool page_unpack(struct bytes pack, struct page *page_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    page_out->status = (int)unpack_number(&unpack, 100, 599);
    page_out->body = unpack_bytes(&unpack, PACK_MAX);
    page_out->next = unpack_text(&unpack, PAGE_NEXT_MAX);
    return unpack_end(&unpack, "a page", err);
}
