/*
 * driver.h - one open file as a store, for this driver and for memory:.
 */
#ifndef SQLITE_DRIVER_H
#define SQLITE_DRIVER_H

#include "base/base.h"
#include "store/driver.h"
#include "store/sqlite/file/connection.h"

/* Opens the file as a store; its folder exists. */
bool sqlite_driver_open(const char *path, enum sqlite_sync sync,
                        const struct store_options *options, struct store **store_out,
                        struct error *err) MUST_CHECK;

#endif
