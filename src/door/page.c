/*
 * page.c - what browse answers most calls with.
 */
#include "door/page.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "door/pack.h"
#include "door/peers.h"

void page_pack(struct buffer *pack, const struct page *page)
{
    pack_number(pack, page->status);
    pack_bytes(pack, page->body);
    pack_text(pack, page->next);
}

bool page_answer(struct peer *peer, uint64_t serial, const struct page *page, struct error *err)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);

    page_pack(&pack, page);
    if (!buffer_ok(&pack, err))
        return false;
    peer_answer(peer, serial, (struct bytes){(const unsigned char *)pack.data, pack.length});
    return true;
}

bool page_unpack(struct bytes pack, struct page *page_out, struct error *err)
{
    struct unpack unpack = unpack_begin(pack);

    page_out->status = (int)unpack_number(&unpack, 100, 599);
    page_out->body = unpack_bytes(&unpack, PACK_MAX);
    page_out->next = unpack_text(&unpack, PAGE_NEXT_MAX);
    return unpack_end(&unpack, "a page", err);
}
