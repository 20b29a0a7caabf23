/*
 * token_file.h - a file with a secret that opens a door.
 */
#ifndef CONFIG_TOKEN_FILE_H
#define CONFIG_TOKEN_FILE_H

#include "base/base.h"

struct digest;
struct error;

#define TOKEN_MAX 4096

/* Of the token only its digest is kept; white space around it is not part of it. Refused: a file
 * that anybody but its owner may read, and what no client could send. */
bool token_file_read(const char *path, struct digest *digest_out, struct error *err) MUST_CHECK;

#endif
