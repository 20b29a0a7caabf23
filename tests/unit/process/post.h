/*
 * post.h - a pair of sockets to send over, and raw datagrams to send what nobody should.
 */
#ifndef TESTS_UNIT_PROCESS_POST_H
#define TESTS_UNIT_PROCESS_POST_H

#include "base/error.h"
#include "process/message.h"

#include <check.h>
#include <dirent.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define POST_MAX ((size_t)128 * 1024)

struct post {
    int near, far;
    struct error err;
};

struct datagram {
    size_t length;
    unsigned char bytes[POST_MAX];
};

static inline struct post post_open(void)
{
    struct post post = {.near = -1};
    int ends[2];

    ck_assert_msg(message_pair(ends, &post.err), "%s", post.err.text);
    post.near = ends[0];
    post.far = ends[1];
    return post;
}

static inline void post_close(struct post *post)
{
    close(post->near);
    close(post->far);
}

static inline void post_send_raw(int socket, const void *data, size_t length)
{
    ck_assert_int_eq(send(socket, data, length, MSG_NOSIGNAL), (ssize_t)length);
}

/* What one of ours looks like on its way. */
static inline void post_take_raw(int socket, struct datagram *datagram_out)
{
    const ssize_t count = recv(socket, datagram_out->bytes, sizeof datagram_out->bytes, 0);

    ck_assert_int_gt(count, 0);
    datagram_out->length = (size_t)count;
}

/* With descriptors along that nobody asked for. */
static inline void post_send_files(int socket, const struct datagram *datagram, size_t count)
{
    int files[4] = {0, 0, 0, 0};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof files)];
    } control = {0};
    struct iovec part = {(void *)datagram->bytes, datagram->length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(count * sizeof files[0])};

    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(count * sizeof files[0]);
    memcpy(CMSG_DATA(&control.header), files, count * sizeof files[0]);
    ck_assert_int_eq(sendmsg(socket, &message, 0), (ssize_t)datagram->length);
}

static inline int post_count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

#endif
