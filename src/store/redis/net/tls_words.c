/*
 * tls_words.c - the tables of what can be wrong between two ends of TLS.
 */
#include "store/redis/net/tls_words.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

#define NAME_SIZE       256
#define NAMES_MAX       5 /* of a certificate that has many */
#define TIME_SIZE       32
#define THE_CERTIFICATE "the server's certificate"

/* ---- a certificate for people ---- */

/* Servers choose these names: only what is plain gets to a terminal. */
static void add_plain(struct buffer *words, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] >= ' ' && text[i] < 0x7f)
            buffer_char(words, text[i]);
        else
            buffer_char(words, '?');
    }
}

static void add_common_name(struct buffer *words, const X509_NAME *name)
{
    char text[NAME_SIZE];

    if (X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof text) <= 0)
        X509_NAME_oneline(name, text, sizeof text);
    buffer_char(words, '\'');
    add_plain(words, text, strlen(text));
    buffer_char(words, '\'');
}

static void add_address(struct buffer *words, const ASN1_OCTET_STRING *address)
{
    const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
    char text[INET6_ADDRSTRLEN] = "?";

    if (family == AF_INET || ASN1_STRING_length(address) == 16)
        inet_ntop(family, ASN1_STRING_get0_data(address), text, sizeof text);
    buffer_text(words, text);
}

static bool add_alternative(struct buffer *words, const GENERAL_NAME *name, bool is_first)
{
    if (name->type != GEN_DNS && name->type != GEN_IPADD)
        return false;
    buffer_text(words, is_first ? "" : ", ");
    if (name->type == GEN_IPADD)
        add_address(words, name->d.iPAddress);
    else
        add_plain(words, (const char *)ASN1_STRING_get0_data(name->d.dNSName),
                  (size_t)ASN1_STRING_length(name->d.dNSName));
    return true;
}

/* Whose certificate it is. */
static void add_names(struct buffer *words, const X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    const int count = names ? sk_GENERAL_NAME_num(names) : 0;
    int shown = 0, i;

    for (i = 0; i < count && shown < NAMES_MAX; i++)
        shown += add_alternative(words, sk_GENERAL_NAME_value(names, i), shown == 0);
    if (shown == 0)
        add_common_name(words, X509_get_subject_name(certificate));
    if (i < count)
        buffer_text(words, ", ...");
    GENERAL_NAMES_free(names);
}

static void add_time(struct buffer *words, const ASN1_TIME *moment)
{
    struct tm broken = {0};
    char text[TIME_SIZE] = "?";

    if (ASN1_TIME_to_tm(moment, &broken) == 1)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
    buffer_text(words, text);
}

/* ---- certificates that are not accepted ---- */

static void add_stranger(struct buffer *words, const X509 *certificate,
                         const struct redis_tls_settings *settings)
{
    buffer_text(words, THE_CERTIFICATE " is signed by ");
    add_common_name(words, X509_get_issuer_name(certificate));
    if (settings->cafile)
        buffer_printf(words, ", which is not trusted: cafile=%s has other authorities",
                      settings->cafile);
    else
        buffer_text(words, ", which this system does not trust: name the file with that "
                           "authority's certificate, ?cafile=FILE");
}

static void add_other_name(struct buffer *words, const X509 *certificate, const char *name)
{
    buffer_text(words, THE_CERTIFICATE " is for ");
    add_names(words, certificate);
    buffer_printf(words,
                  ", not for %s: connect by such a name, or say ?servername=NAME if this is the "
                  "right server",
                  name);
}

static void add_wrong_time(struct buffer *words, const X509 *certificate, bool has_expired)
{
    buffer_text(words, THE_CERTIFICATE " (");
    add_common_name(words, X509_get_subject_name(certificate));
    buffer_text(words, has_expired ? ") expired at " : ") is not valid before ");
    add_time(words,
             has_expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate));
    buffer_text(words, has_expired ? ": give the server a new one"
                                   : ": are the clocks of both machines right?");
}

void redis_tls_words_distrust(X509_STORE_CTX *verified, const struct redis_tls_settings *settings,
                              const char *name, struct buffer *words)
{
    const int verdict = X509_STORE_CTX_get_error(verified);
    const X509 *current = X509_STORE_CTX_get_current_cert(verified);
    const X509 *certificate = current ? current : X509_STORE_CTX_get0_cert(verified);

    switch (verdict) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
        add_stranger(words, certificate, settings);
        return;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        add_other_name(words, X509_STORE_CTX_get0_cert(verified), name);
        return;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        add_wrong_time(words, certificate, verdict == X509_V_ERR_CERT_HAS_EXPIRED);
        return;
    default: /* OpenSSL has ninety of them, which have no name as a type */
        buffer_printf(words, THE_CERTIFICATE " is not accepted: %s",
                      X509_verify_cert_error_string(verdict));
    }
}

/* ---- all else ---- */

/* clang-format off */
static const struct {
    int reason;
    const char *words;
} failures[] = {
    {SSL_R_WRONG_VERSION_NUMBER,         "this port does not speak TLS: write redis in place of rediss in the URL, or name the port that does"},
    {SSL_R_UNSUPPORTED_PROTOCOL,         "the server speaks only versions of TLS before 1.2, which are not safe: update it"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "the server speaks neither TLS 1.2 nor 1.3: update it, or look at its tls-protocols"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME,      "the server does not know the name that we called it by: say another one, ?servername=NAME"},
};

/* What the server has against our certificate. */
static const struct {
    int reason;
    const char *words;
} objections[] = {
    {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,   "it wants one"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,       "or shares no cipher with us"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA,              "it does not trust the authority that signed it"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,         "it calls it bad"},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, "it does not take this kind"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,     "it was revoked"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,     "it has expired"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,     "it does not say why"},
    {SSL_R_TLSV1_ALERT_ACCESS_DENIED,           "it denies access"},
};
/* clang-format on */

static void add_objection(struct buffer *words, const struct redis_tls_settings *settings,
                          const char *why)
{
    if (settings->cert)
        buffer_printf(words, "the server does not accept our certificate %s: %s", settings->cert,
                      why);
    else
        buffer_text(words, "the server wants a certificate of ours: name it and its key, "
                           "?cert=FILE&key=FILE");
}

void redis_tls_words_failure(unsigned long code, const struct redis_tls_settings *settings,
                             struct buffer *words)
{
    const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    const char *text = ERR_reason_error_string(code);

    for (size_t i = 0; i < COUNT_OF(failures); i++)
        if (failures[i].reason == reason) {
            buffer_text(words, failures[i].words);
            return;
        }
    for (size_t i = 0; i < COUNT_OF(objections); i++)
        if (objections[i].reason == reason) {
            add_objection(words, settings, objections[i].words);
            return;
        }
    buffer_printf(words, "TLS failed: %s", text ? text : "no reason is known");
}
