/*
 * scheme.h - the word that a backend URL begins with, as other programs write it.
 */
#ifndef STORE_SCHEME_H
#define STORE_SCHEME_H

#include "base/buffer.h"

/* Adds the URL as our drivers know it: in postgresql+psycopg2:// SQLAlchemy names the Python
 * library as well, which is none of our business. */
void scheme_add_url(struct buffer *url, const char *text);

/* What to write in place of a scheme that no driver has; NULL: nobody can say. */
const char *scheme_advice(const char *scheme);

#endif
