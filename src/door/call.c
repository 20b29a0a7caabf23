/*
 * call.c - what a door asks of the gate and of browse, and what they answer.
 */
#include "door/call.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "process/channel.h"
#include "process/memory_file.h"

/* Without gaps: what lies in a gap would be sent as well. */
struct head {
    uint64_t serial;
    uint64_t file_length; /* of the pack, when it is in a file */
    uint32_t word;        /* what kind of call it is; whether an answer is a good one */
    uint32_t has_file;
};

static enum delivery send_parcel(int socket, enum letter_kind kind, uint64_t serial, uint32_t word,
                                 const struct parcel *parcel, struct error *err)
{
    const bool has_file = parcel->fd >= 0;
    struct head head = {
        .serial = serial,
        .file_length = has_file ? parcel->length : 0,
        .word = word,
        .has_file = has_file,
    };
    const struct letter letter = {
        .kind = kind,
        .head = &head,
        .head_size = sizeof head,
        .texts = {{parcel->data, parcel->data ? parcel->length : 0}},
        .text_count = 1,
        .fd = parcel->fd,
    };

    return channel_send(socket, &letter, err);
}

/* What it carries is where it says, and nowhere else. */
static bool find_pack(const struct head *head, const struct letter *letter, struct arena *arena,
                      struct bytes *pack_out, struct error *err)
{
    const bool has_text = letter->texts[0].data != NULL;

    if ((letter->fd >= 0) != (head->has_file != 0) || (has_text && head->has_file))
        return error_set(err, TH_E_INTERNAL, "a pack that is not where it should be");
    if (!head->has_file) {
        *pack_out = has_text ? letter->texts[0] : (struct bytes){(const unsigned char *)"", 0};
        return true;
    }
    if (head->file_length > PACK_MAX)
        return error_set(err, TH_E_INTERNAL, "a pack of %" PRIu64 " bytes", head->file_length);
    return memory_file_read("pack", letter->fd, head->file_length, arena, pack_out, err);
}

/* `words`: how many there are. */
static enum delivery receive_pack(int socket, enum letter_kind kind, uint32_t words,
                                  struct arena *arena, struct head *head, struct bytes *pack_out,
                                  struct error *err)
{
    struct letter letter = {
        .kind = kind,
        .head = head,
        .head_size = sizeof *head,
        .text_count = 1,
        .fd = -1,
        .takes_fd = true,
    };
    const enum delivery delivery = channel_receive(socket, arena, &letter, err);
    AUTO_CLOSE int fd = delivery == DELIVERY_DONE ? letter.fd : -1;

    if (delivery != DELIVERY_DONE)
        return delivery;
    if (head->word >= words) {
        error_set(err, TH_E_INTERNAL, "there is no call or answer %" PRIu32, head->word);
        return DELIVERY_FAILED;
    }
    (void)fd;
    return find_pack(head, &letter, arena, pack_out, err) ? DELIVERY_DONE : DELIVERY_FAILED;
}

enum delivery call_send(int socket, uint64_t serial, enum call_kind kind,
                        const struct parcel *parcel, struct error *err)
{
    return send_parcel(socket, LETTER_CALL, serial, kind, parcel, err);
}

enum delivery call_receive(int socket, struct arena *arena, struct call *call_out,
                           struct error *err)
{
    struct head head = {0};
    struct bytes pack = {0};
    const enum delivery delivery =
        receive_pack(socket, LETTER_CALL, CALL_KINDS, arena, &head, &pack, err);

    *call_out = (struct call){
        .serial = head.serial,
        .kind = delivery == DELIVERY_DONE ? (enum call_kind)head.word : CALL_FORGET,
        .pack = pack,
    };
    return delivery;
}

enum delivery answer_send(int socket, uint64_t serial, bool worked, const struct parcel *parcel,
                          struct error *err)
{
    return send_parcel(socket, LETTER_ANSWER, serial, worked, parcel, err);
}

enum delivery answer_receive(int socket, struct arena *arena, struct answer *answer_out,
                             struct error *err)
{
    struct head head = {0};
    struct bytes pack = {0};
    const enum delivery delivery = receive_pack(socket, LETTER_ANSWER, 2, arena, &head, &pack, err);

    *answer_out = (struct answer){.serial = head.serial, .worked = head.word == 1, .pack = pack};
    return delivery;
}
