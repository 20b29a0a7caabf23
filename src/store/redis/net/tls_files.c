/*
 * tls_files.c - whom we trust, and who we are.
 *
 * OpenSSL says of a file that it is missing, of a folder and of an empty file in the same way: "no
 * such file" and "no start line". So each file is looked at first.
 */
#include "store/redis/net/tls_files.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *option, const char *path, const char *what, struct error *err)
{
    return error_set(err, TH_E_INVALID, "%s=%s: %s", option, path, what);
}

static bool look_at(const char *option, const char *path, struct stat *status_out,
                    struct error *err)
{
    AUTO_CLOSE int fd = -1;

    if (!io_open_regular(path, &fd, err))
        return error_prefix(err, "%s=%s", option, path);
    if (fstat(fd, status_out) != 0)
        return refuse(option, path, "cannot be looked at", err);
    return status_out->st_size > 0 || refuse(option, path, "is empty", err);
}

static bool trust(SSL_CTX *context, const char *cafile, struct error *err)
{
    struct stat status;

    if (!cafile)
        return SSL_CTX_set_default_verify_paths(context) == 1 ||
               error_set(err, TH_E_INVALID,
                         "the system's list of authorities cannot be read: name one with cafile=");
    return look_at("cafile", cafile, &status, err) &&
           (SSL_CTX_load_verify_file(context, cafile) == 1 ||
            refuse("cafile", cafile, "has no certificate in PEM form", err));
}

/* libpq's rule for its keys: nobody but the owner, or root's file for a group. */
static bool is_private(const struct stat *status)
{
    const mode_t others =
        status->st_uid == 0 && geteuid() != 0 ? S_IRWXO | S_IWGRP | S_IXGRP : S_IRWXO | S_IRWXG;

    return (status->st_mode & others) == 0;
}

/* OpenSSL would ask at the terminal. */
static int refuse_to_ask(char *phrase, int size, int writes, void *context)
{
    (void)phrase;
    (void)size;
    (void)writes;
    *(bool *)context = true;
    return -1;
}

/* A file may have both, the certificate and its key. */
static bool use_key(SSL_CTX *context, const char *option, const char *path, struct error *err)
{
    struct stat status = {0};
    bool wants_phrase = false;

    if (!look_at(option, path, &status, err))
        return false;
    SSL_CTX_set_default_passwd_cb(context, refuse_to_ask);
    SSL_CTX_set_default_passwd_cb_userdata(context, &wants_phrase);
    const bool is_used = SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) == 1;
    if (wants_phrase)
        return refuse(option, path, "is locked by a passphrase: store the key without one", err);
    if (!is_used && ERR_GET_LIB(ERR_peek_last_error()) == ERR_LIB_X509)
        return refuse(option, path, "is the key of another certificate", err);
    if (!is_used)
        return refuse(option, path, "has no private key in PEM form: name it with key=FILE", err);
    return is_private(&status) ||
           refuse(option, path, "has a key that others may read: make it chmod 600", err);
}

static bool present(SSL_CTX *context, const struct redis_tls_settings *settings, struct error *err)
{
    struct stat status;

    if (!settings->cert)
        return true;
    if (!look_at("cert", settings->cert, &status, err))
        return false;
    if (SSL_CTX_use_certificate_chain_file(context, settings->cert) != 1)
        return refuse("cert", settings->cert, "has no certificate in PEM form", err);
    return settings->key ? use_key(context, "key", settings->key, err)
                         : use_key(context, "cert", settings->cert, err);
}

bool redis_tls_files_load(const struct redis_tls_settings *settings, SSL_CTX *context,
                          struct error *err)
{
    bool is_loaded = trust(context, settings->cafile, err) && present(context, settings, err);

    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    ERR_clear_error();
    return is_loaded;
}
