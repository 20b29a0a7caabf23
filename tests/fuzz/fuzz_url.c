/*
 * fuzz_url.c - backend URLs: taken apart by the drivers, and never shown with their secrets.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "fuzz.h"
#include "store/store.h"
#include "store/url.h"

#include <assert.h>
#include <stdio.h>

#define SECRET "s3cr3t.w0rd"

/* A password in its place, whatever stands around it. */
static void try_secret(const char *rest)
{
    AUTO_FREE char *text = NULL;
    CLEANUP(url_done) struct store_url url = {0};
    struct error err = {0};

    if (strstr(rest, SECRET))
        return;
    if (asprintf(&text, "redis://:" SECRET "@%s", rest) < 0)
        abort();
    if (url_parse(text, &url, &err))
        assert(!strstr(url.shown, SECRET));
    else
        assert(!strstr(err.text, SECRET));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = fuzz_text(data, size);
    CLEANUP(url_done) struct store_url url = {0};
    struct error err = {0};

    if (url_parse(text, &url, &err))
        assert(url.scheme && url.path && url.shown && !url_option(&url, ""));
    else
        assert(err.code == TH_E_INVALID);
    if (!store_check_url(text, "/", &err))
        assert(err.text[0] != '\0');
    try_secret(text);
    return 0;
}
