/*
 * result.c - results of message.h: how a run ended, from its worker to the dispatcher.
 *
 * A small one is packed into the worker's result ring (result_ring.h), the others go through its
 * socket; long output goes along in a file (memory_file.h).
 *
 * Looking is recv() with MSG_PEEK and SO_PEEK_OFF: each look goes on where the last one ended, and
 * taking off moves that place back by as much. Both belong to the socket, not to the process, so
 * the next dispatcher finds what the last one left.
 *
 * A worker runs other people's code: nothing that it sends is trusted to be a result.
 */
#include "process/message.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "process/channel.h"
#include "process/memory_file.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A struct result without its texts. The pool's name is not sent: the dispatcher knows it. */
struct result_head {
    struct hold hold;
    usec_t snooze_for;
    int64_t execution;
    usec_t started_at, wall, user, system;
    int64_t max_rss_kb;
    uint64_t file_length; /* of the output, when it is in a file */
    uint32_t kind, run_outcome;
    int32_t worker, exit_code, signal;
    uint32_t could_not_start;
    int32_t progress_percent; /* -1: none */
    uint32_t has_one_error;   /* the run's error is the outcome's, sent once */
    uint32_t has_file;
};

enum result_text {
    TEXT_ERROR,
    TEXT_RUN_ERROR,
    TEXT_RESULT,
    TEXT_OUTPUT,
    TEXT_PROGRESS,
    RESULT_TEXTS,
};

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, text ? strlen(text) : 0};
}

static struct result_head make_head(const struct result *result)
{
    const struct outcome *outcome = &result->outcome;
    const struct job_run *run = &outcome->run;

    return (struct result_head){
        .hold = result->hold,
        .snooze_for = outcome->snooze_for,
        .execution = run->execution,
        .started_at = run->started_at,
        .wall = run->wall,
        .user = run->user,
        .system = run->system,
        .max_rss_kb = run->max_rss_kb,
        .kind = outcome->kind,
        .run_outcome = run->outcome,
        .worker = run->worker,
        .exit_code = run->exit_code,
        .signal = run->signal,
        .could_not_start = result->could_not_start,
        .progress_percent = outcome->has_progress ? outcome->progress_percent : -1,
        .has_one_error = text_equal(outcome->error, run->error),
    };
}

static struct letter letter_of(const struct result *result, struct result_head *head)
{
    const struct outcome *outcome = &result->outcome;

    return (struct letter){
        .kind = LETTER_RESULT,
        .head = head,
        .head_size = sizeof *head,
        .texts =
            {
                [TEXT_ERROR] = bytes_of(outcome->error),
                [TEXT_RUN_ERROR] = bytes_of(head->has_one_error ? NULL : outcome->run.error),
                [TEXT_RESULT] = outcome->result,
                [TEXT_OUTPUT] = outcome->output,
                [TEXT_PROGRESS] = bytes_of(outcome->has_progress ? outcome->progress_text : NULL),
            },
        .text_count = RESULT_TEXTS,
        .fd = -1,
    };
}

static void put_output_into(int fd, struct result_head *head, struct letter *letter)
{
    head->has_file = true;
    head->file_length = letter->texts[TEXT_OUTPUT].length;
    letter->texts[TEXT_OUTPUT] = (struct bytes){0};
    letter->fd = fd;
}

static void cut_output(struct letter *letter)
{
    struct bytes *output = &letter->texts[TEXT_OUTPUT];

    output->data += output->length - MEMORY_FILE_FROM;
    output->length = MEMORY_FILE_FROM;
}

/* How a job ended must not be lost because of what it printed: if no file can be made, the end of
 * the output goes without one. */
static enum delivery send_long(int socket, const struct result *result, struct error *err)
{
    struct result_head head = make_head(result);
    struct letter letter = letter_of(result, &head);
    AUTO_CLOSE int fd = -1;

    if (memory_file_make("output", result->outcome.output, &fd, err)) {
        put_output_into(fd, &head, &letter);
        const enum delivery delivery = channel_send(socket, &letter, err);

        if (delivery != DELIVERY_NONE || errno != ETOOMANYREFS)
            return delivery;
    }
    head = make_head(result);
    letter = letter_of(result, &head);
    cut_output(&letter);
    return channel_send(socket, &letter, err);
}

enum delivery result_send(int socket, const struct result *result, struct error *err)
{
    struct result_head head = make_head(result);
    const struct letter letter = letter_of(result, &head);

    if (result->outcome.output.length > MEMORY_FILE_FROM)
        return send_long(socket, result, err);
    return channel_send(socket, &letter, err);
}

size_t result_pack(const struct result *result, unsigned char *out, size_t room)
{
    struct result_head head = make_head(result);
    const struct letter letter = letter_of(result, &head);

    return letter_pack(&letter, out, room);
}

static const char *text_at(const struct letter *letter, enum result_text index)
{
    return (const char *)letter->texts[index].data;
}

static struct job_run read_run(const struct result_head *head, const struct letter *letter)
{
    return (struct job_run){
        .execution = head->execution,
        .worker = head->worker,
        .started_at = head->started_at,
        .wall = head->wall,
        .user = head->user,
        .system = head->system,
        .max_rss_kb = head->max_rss_kb,
        .outcome = (enum run_outcome)head->run_outcome,
        .exit_code = head->exit_code,
        .signal = head->signal,
        .error = text_at(letter, head->has_one_error ? TEXT_ERROR : TEXT_RUN_ERROR),
    };
}

/* What no store would take is left out. */
static void read_progress(const struct result_head *head, const struct letter *letter,
                          struct outcome *outcome)
{
    const struct bytes text = letter->texts[TEXT_PROGRESS];

    outcome->has_progress = head->progress_percent >= 0 && head->progress_percent <= 100;
    if (!outcome->has_progress)
        return;
    outcome->progress_percent = head->progress_percent;
    if (text.length > 0 && text_is_utf8(text) && strlen((const char *)text.data) == text.length)
        outcome->progress_text = (const char *)text.data;
}

static struct letter blank(struct result_head *head)
{
    return (struct letter){
        .kind = LETTER_RESULT,
        .head = head,
        .head_size = sizeof *head,
        .text_count = RESULT_TEXTS,
        .fd = -1,
        .takes_fd = true,
    };
}

static bool read_result(const struct result_head *head, const struct letter *letter,
                        struct result *result_out, struct error *err)
{
    if (head->kind > OUTCOME_UNSTARTABLE || head->run_outcome > RUN_STALLED)
        return error_set(err, TH_E_INTERNAL, "there is no outcome %u and %u", head->kind,
                         head->run_outcome);
    *result_out = (struct result){
        .hold = head->hold,
        .outcome =
            {
                .kind = (enum outcome_kind)head->kind,
                .error = text_at(letter, TEXT_ERROR),
                .snooze_for = head->snooze_for,
                .result = letter->texts[TEXT_RESULT],
                .output = letter->texts[TEXT_OUTPUT],
                .run = read_run(head, letter),
            },
        .could_not_start = head->could_not_start != 0,
    };
    read_progress(head, letter, &result_out->outcome);
    return true;
}

static bool read_output(const struct result_head *head, int fd, struct arena *arena,
                        struct bytes *output_out, struct error *err)
{
    if ((fd >= 0) != (head->has_file != 0))
        return error_set(err, TH_E_INTERNAL, "a result that should%s have come with a file",
                         fd >= 0 ? " not" : "");
    if (fd < 0)
        return true;
    if (head->file_length > JOB_OUTPUT_MAX)
        return error_set(err, TH_E_INTERNAL, "a result with %" PRIu64 " bytes of output",
                         head->file_length);
    return memory_file_read("output", fd, head->file_length, arena, output_out, err);
}

enum delivery result_look(int socket, struct arena *arena, struct result *result_out,
                          struct error *err)
{
    struct result_head head = {0};
    struct letter letter = blank(&head);
    const enum delivery delivery = channel_look(socket, arena, &letter, err);

    AUTO_CLOSE int fd = letter.fd;

    if (delivery != DELIVERY_DONE)
        return delivery;
    return read_result(&head, &letter, result_out, err) &&
                   read_output(&head, fd, arena, &result_out->outcome.output, err)
               ? DELIVERY_DONE
               : DELIVERY_FAILED;
}

bool result_unpack(struct bytes packed, struct arena *arena, struct result *result_out,
                   struct error *err)
{
    struct result_head head = {0};
    struct letter letter = blank(&head);

    return letter_unpack(packed, arena, &letter, err) &&
           read_result(&head, &letter, result_out, err) &&
           read_output(&head, -1, arena, &result_out->outcome.output, err);
}

/* Without a place to put it: the kernel drops what has no room, and tells how long it was. */
static ssize_t drop_oldest(int socket)
{
    ssize_t length;

    do {
        length = recv(socket, NULL, 0, MSG_TRUNC);
    } while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    return length;
}

bool result_take(int socket, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const ssize_t length = drop_oldest(socket);

        if (length < 0)
            return error_errno(err, TH_E_INTERNAL, errno, "take a result off");
        if (length == 0)
            return error_set(err, TH_E_INTERNAL, "take a result off: there is none");
    }
    return true;
}

bool result_rewind(int socket, struct error *err)
{
    const int start = 0;

    if (setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &start, sizeof start))
        return error_errno(err, TH_E_INTERNAL, errno, "look at results from the oldest on");
    return true;
}
