/*
 * tls.c - one OpenSSL session.
 *
 * Invariants:
 *   - The certificate of the other end is verified, its name too, before a byte of ours is sent.
 *   - The socket is used by recv() and send() alone, which neither wait nor raise SIGPIPE.
 *   - A session that failed is not used again: it goes on to say why.
 */
#include "store/redis/net/tls.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "store/redis/net/tls_files.h"
#include "store/redis/net/tls_words.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#define REASON_MAX ((size_t)2 * ERROR_TEXT_SIZE)

struct redis_tls {
    struct redis_tls_settings settings;
    const char *name; /* whose certificate it has to be; known until the handshake is done */
    int fd;
    bool has_ended; /* the peer sends no more */
    bool has_failed;
    int failure;          /* errno */
    struct buffer reason; /* of EPROTO */
    short read_waits, write_waits;
    BIO_METHOD *socket; /* owned, as the two below */
    SSL_CTX *context;
    SSL *session;
};

/* ---- the socket, as OpenSSL sees it ---- */

static int retry_or_fail(BIO *bio, ssize_t moved, int direction)
{
    BIO_clear_retry_flags(bio);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY);
    return (int)moved;
}

static int socket_write(BIO *bio, const char *bytes, int length)
{
    const struct redis_tls *tls = BIO_get_data(bio);

    return retry_or_fail(bio, send(tls->fd, bytes, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT),
                         BIO_FLAGS_WRITE);
}

static int socket_read(BIO *bio, char *bytes, int length)
{
    struct redis_tls *tls = BIO_get_data(bio);
    ssize_t got = recv(tls->fd, bytes, (size_t)length, MSG_DONTWAIT);

    tls->has_ended = tls->has_ended || got == 0;
    return retry_or_fail(bio, got, BIO_FLAGS_READ);
}

static long socket_control(BIO *bio, int command, long number, void *pointer)
{
    const struct redis_tls *tls = BIO_get_data(bio);

    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF)
        return tls->has_ended;
    return command == BIO_CTRL_FLUSH; /* nothing is kept back */
}

static BIO *make_socket(struct redis_tls *tls)
{
    tls->socket = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "redis");
    if (!tls->socket || BIO_meth_set_write(tls->socket, socket_write) != 1 ||
        BIO_meth_set_read(tls->socket, socket_read) != 1 ||
        BIO_meth_set_ctrl(tls->socket, socket_control) != 1)
        return NULL;
    BIO *bio = BIO_new(tls->socket);
    if (bio) {
        BIO_set_data(bio, tls);
        BIO_set_init(bio, 1);
    }
    return bio;
}

/* ---- trust ---- */

/* The reason has to be written down here: OpenSSL forgets the certificate. */
static int verify(X509_STORE_CTX *certificates, void *context)
{
    struct redis_tls *tls = context;

    if (X509_verify_cert(certificates) == 1)
        return 1;
    redis_tls_words_distrust(certificates, &tls->settings, tls->name, &tls->reason);
    return 0;
}

static SSL_CTX *make_context(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    if (!context || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    /* Where a reply ends is known without it: servers that hang up do not all say so first. */
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    return context;
}

static bool is_address(const char *name)
{
    struct in6_addr address;

    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* A server with several certificates is told which one; only names are, not addresses. */
static bool call_by_name(struct redis_tls *tls)
{
    SSL_set_hostflags(tls->session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls->session, tls->name) == 1 &&
           (is_address(tls->name) || SSL_set_tlsext_host_name(tls->session, tls->name) == 1);
}

/* ---- open and close ---- */

static bool start(struct redis_tls *tls)
{
    SSL_CTX_set_cert_verify_callback(tls->context, verify, tls);
    tls->session = SSL_new(tls->context);
    BIO *bio = tls->session ? make_socket(tls) : NULL;
    if (!bio)
        return false;
    SSL_set_bio(tls->session, bio, bio);
    SSL_set_connect_state(tls->session);
    return call_by_name(tls);
}

static void context_free(SSL_CTX **context)
{
    SSL_CTX_free(*context);
}

bool redis_tls_check(const struct redis_tls_settings *settings, struct error *err)
{
    CLEANUP(context_free) SSL_CTX *context = settings->wanted ? make_context() : NULL;

    if (!settings->wanted)
        return true;
    return context ? redis_tls_files_load(settings, context, err) : error_no_memory(err);
}

static struct redis_tls *tls_new(const struct redis_tls_settings *settings, const char *host,
                                 int fd)
{
    struct redis_tls *tls = calloc(1, sizeof *tls);

    if (!tls)
        return NULL;
    *tls = (struct redis_tls){
        .settings = *settings,
        .name = settings->servername ? settings->servername : host,
        .fd = fd,
        .reason = BUFFER(REASON_MAX),
        .read_waits = POLLIN,
        .write_waits = POLLOUT,
        .context = make_context(),
    };
    return tls;
}

bool redis_tls_open(const struct redis_tls_settings *settings, const char *host, int fd,
                    struct redis_tls **tls_out, struct error *err)
{
    CLEANUP(redis_tls_close) struct redis_tls *tls = tls_new(settings, host, fd);

    if (!tls || !tls->context)
        return error_no_memory(err);
    if (!redis_tls_files_load(settings, tls->context, err)) {
        err->code = TH_E_UNAVAILABLE;
        return false;
    }
    if (!start(tls))
        return error_no_memory(err);
    *tls_out = tls;
    tls = NULL;
    return true;
}

void redis_tls_close(struct redis_tls **tls)
{
    if (!*tls)
        return;
    SSL_free((*tls)->session);
    SSL_CTX_free((*tls)->context);
    BIO_meth_free((*tls)->socket);
    buffer_done(&(*tls)->reason);
    free(*tls);
    *tls = NULL;
}

/* ---- moving bytes ---- */

static int fail(struct redis_tls *tls, int number)
{
    if (number == EPROTO && tls->reason.length == 0)
        redis_tls_words_failure(ERR_peek_error(), &tls->settings, &tls->reason);
    ERR_clear_error();
    tls->has_failed = true;
    tls->failure = number;
    errno = number;
    return -1;
}

/* What a call that did not work waits for, or why it never will; 0: the peer has closed. */
static int judge(struct redis_tls *tls, int result, int number, short *waits_out)
{
    switch (SSL_get_error(tls->session, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        *waits_out = SSL_want_write(tls->session) ? POLLOUT : POLLIN;
        errno = EAGAIN;
        return -1;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_SYSCALL:
        return number == 0 || tls->has_ended ? 0 : fail(tls, number);
    default:
        return fail(tls, EPROTO);
    }
}

static bool is_usable(const struct redis_tls *tls)
{
    errno = tls->failure;
    if (tls->has_failed)
        return false;
    ERR_clear_error();
    errno = 0;
    return true;
}

int redis_tls_handshake(struct redis_tls *tls)
{
    if (!is_usable(tls))
        return -1;
    int done = SSL_do_handshake(tls->session);
    if (done == 1)
        return 0;
    int verdict = judge(tls, done, errno, &tls->read_waits);
    if (verdict != 0)
        return verdict;
    buffer_text(&tls->reason, "the server hung up during the TLS handshake: see its log");
    return fail(tls, EPROTO);
}

ssize_t redis_tls_read(struct redis_tls *tls, void *bytes, size_t size)
{
    size_t got = 0;

    if (!is_usable(tls))
        return -1;
    int done = SSL_read_ex(tls->session, bytes, size, &got);
    tls->read_waits = POLLIN;
    return done == 1 ? (ssize_t)got : judge(tls, done, errno, &tls->read_waits);
}

/* A server that refuses our certificate says so and hangs up, while we are sending already. */
static int hear_why(struct redis_tls *tls, int number)
{
    size_t got;
    char byte;

    ERR_clear_error();
    int done = SSL_peek_ex(tls->session, &byte, 1, &got);
    bool is_said = done != 1 && SSL_get_error(tls->session, done) == SSL_ERROR_SSL;
    return fail(tls, is_said ? EPROTO : number);
}

ssize_t redis_tls_write(struct redis_tls *tls, const void *bytes, size_t size)
{
    size_t sent = 0;

    if (!is_usable(tls))
        return -1;
    int done = SSL_write_ex(tls->session, bytes, size, &sent);
    int number = errno;
    tls->write_waits = POLLOUT;
    if (done == 1)
        return (ssize_t)sent;
    if (SSL_get_error(tls->session, done) == SSL_ERROR_SYSCALL)
        return hear_why(tls, number);
    return judge(tls, done, number, &tls->write_waits) == 0 ? fail(tls, EPIPE) : -1;
}

bool redis_tls_is_ready(const struct redis_tls *tls)
{
    return SSL_is_init_finished(tls->session) == 1;
}

short redis_tls_events(const struct redis_tls *tls, bool sends)
{
    return (short)(tls->read_waits | (sends ? tls->write_waits : 0));
}

const char *redis_tls_reason(const struct redis_tls *tls)
{
    return buffer_str(&tls->reason);
}

bool redis_tls_is_down(struct redis_tls *tls)
{
    size_t got;
    char byte;

    if (!is_usable(tls))
        return true;
    int done = SSL_peek_ex(tls->session, &byte, 1, &got);
    return done != 1 && (judge(tls, done, errno, &tls->read_waits) == 0 || errno != EAGAIN);
}
