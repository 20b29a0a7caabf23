/*
 * task.c - tasks of message.h: a job on its way from the dispatcher to any idle worker.
 *
 * A small one is packed into shared memory, the others go through a socket (task_ring.h says when).
 * A payload up to 16 KiB lies in the datagram. A longer one lies in a sealed memfd that goes along,
 * so that the socket's buffer holds many tasks whatever their payloads are.
 */
#include "process/message.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "process/channel.h"
#include "process/memory_file.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A struct task without its texts, and without gaps: what lies in a gap would be sent as well. */
struct task_head {
    struct uuid id;
    struct hold hold;
    uint64_t handler;
    int64_t execution;
    usec_t timeout;
    usec_t clock_offset;
    uint64_t file_length; /* of the payload, when it is in a file */
    int32_t attempt, max_attempts;
    uint32_t is_json;
    uint32_t has_file;
};

enum task_text {
    TEXT_TYPE,
    TEXT_QUEUE,
    TEXT_PAYLOAD,
    TEXT_HEADERS, /* of most it is absent */
    TASK_TEXTS,
};

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static struct task_head head_of(const struct task *task, bool has_file)
{
    return (struct task_head){
        .id = task->id,
        .hold = task->hold,
        .handler = task->handler,
        .execution = task->execution,
        .timeout = task->timeout,
        .clock_offset = task->clock_offset,
        .file_length = has_file ? task->payload.length : 0,
        .attempt = task->attempt,
        .max_attempts = task->max_attempts,
        .is_json = task->is_json,
        .has_file = has_file,
    };
}

static struct letter letter_of(const struct task *task, struct task_head *head)
{
    const struct bytes nothing = {0};

    return (struct letter){
        .kind = LETTER_TASK,
        .head = head,
        .head_size = sizeof *head,
        .texts =
            {
                [TEXT_TYPE] = bytes_of(task->type),
                [TEXT_QUEUE] = bytes_of(task->queue),
                [TEXT_PAYLOAD] = head->has_file ? nothing : task->payload,
                [TEXT_HEADERS] = task->headers ? bytes_of(task->headers) : nothing,
            },
        .text_count = TASK_TEXTS,
        .fd = -1,
    };
}

enum delivery task_send(int socket, const struct task *task, struct error *err)
{
    const bool has_file = task->payload.length > MEMORY_FILE_FROM;
    AUTO_CLOSE int fd = -1;
    struct task_head head = head_of(task, has_file);
    struct letter letter = letter_of(task, &head);

    if (has_file && !memory_file_make("payload", task->payload, &fd, err))
        return DELIVERY_FAILED;
    letter.fd = fd;
    return channel_send(socket, &letter, err);
}

size_t task_pack(const struct task *task, unsigned char *out, size_t room)
{
    struct task_head head = head_of(task, false);
    const struct letter letter = letter_of(task, &head);

    return letter_pack(&letter, out, room);
}

static bool find_payload(const struct task_head *head, const struct letter *letter, int fd,
                         struct arena *arena, struct bytes *payload_out, struct error *err)
{
    if (!letter->texts[TEXT_TYPE].data || !letter->texts[TEXT_QUEUE].data)
        return error_set(err, TH_E_INTERNAL, "a task without a type or a queue");
    if ((fd >= 0) != (head->has_file != 0))
        return error_set(err, TH_E_INTERNAL, "a task that should%s have come with a file",
                         fd >= 0 ? " not" : "");
    if (fd >= 0)
        return memory_file_read("payload", fd, head->file_length, arena, payload_out, err);
    *payload_out = letter->texts[TEXT_PAYLOAD];
    return true;
}

/* What is expected of a letter that a task comes in. */
static struct letter blank(struct task_head *head)
{
    return (struct letter){
        .kind = LETTER_TASK,
        .head = head,
        .head_size = sizeof *head,
        .text_count = TASK_TEXTS,
        .fd = -1,
        .takes_fd = true,
    };
}

static bool read_task(const struct task_head *head, const struct letter *letter, int fd,
                      struct arena *arena, struct task *task_out, struct error *err)
{
    struct bytes payload;

    if (!find_payload(head, letter, fd, arena, &payload, err))
        return false;
    *task_out = (struct task){
        .hold = head->hold,
        .id = head->id,
        .type = (const char *)letter->texts[TEXT_TYPE].data,
        .queue = (const char *)letter->texts[TEXT_QUEUE].data,
        .handler = head->handler,
        .attempt = head->attempt,
        .max_attempts = head->max_attempts,
        .execution = head->execution,
        .timeout = head->timeout,
        .clock_offset = head->clock_offset,
        .is_json = head->is_json != 0,
        .payload = payload,
        .headers = (const char *)letter->texts[TEXT_HEADERS].data,
    };
    return true;
}

enum delivery task_receive(int socket, struct arena *arena, struct task *task_out,
                           struct error *err)
{
    struct task_head head = {0};
    struct letter letter = blank(&head);
    const enum delivery delivery = channel_receive(socket, arena, &letter, err);
    AUTO_CLOSE int fd = letter.fd;

    if (delivery != DELIVERY_DONE)
        return delivery;
    return read_task(&head, &letter, fd, arena, task_out, err) ? DELIVERY_DONE : DELIVERY_FAILED;
}

bool task_unpack(struct bytes packed, struct arena *arena, struct task *task_out, struct error *err)
{
    struct task_head head = {0};
    struct letter letter = blank(&head);

    return letter_unpack(packed, arena, &letter, err) &&
           read_task(&head, &letter, -1, arena, task_out, err);
}

size_t task_backlog(int socket)
{
    int unread = 0;

    if (ioctl(socket, SIOCOUTQ, &unread))
        return 0;
    return (size_t)unread;
}
