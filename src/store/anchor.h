/*
 * anchor.h - the files that a backend URL names, whatever the current folder is.
 *
 *   rediss://host?cafile=ca.pem  in /etc/taskharbor  -> rediss://host?cafile=/etc/taskharbor/ca.pem
 */
#ifndef STORE_ANCHOR_H
#define STORE_ANCHOR_H

#include "base/buffer.h"
#include "base/error.h"

/* Adds text to a URL, with what would be taken for a part of the URL escaped. */
void anchor_add_escaped(struct buffer *url, const char *text);

/* Adds the URL, with relative paths in its options beginning at `folder`; NULL: as they are. Where
 * SQLite's file is, is SQLite's business. */
void anchor_url(const char *text, const char *folder, struct buffer *url);

#endif
