/* Gets pictures from an HTTP store and puts results there: GET into a memory file, PUT from one.
 * Redirects are not followed. A transfer may take 60 s, plus 1 s for each MiB. */
#ifndef SLUICE_RELAY_STORE_H
#define SLUICE_RELAY_STORE_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_answer {
    STORE_DONE,
    STORE_NEVER, /* the same would happen again: answers 3xx and 4xx, too many bytes */
    STORE_LATER, /* it may pass: 5xx, 408, 425, 429, no connection, too slow */
};

/* For one thread; keeps connections open between transfers. */
struct store;

/* `stopped` is called several times a second; true ends a transfer with STORE_LATER. FAULT_MEMORY.
 */
int store_create(struct store **store, bool (*stopped)(void *context), void *context,
                 struct fault *fault);
void store_destroy(struct store **store);

/* Gets at most `limit` bytes into `fd`. `taken` is called before each piece is stored; false ends
 * the transfer with STORE_LATER. The fault gives the reason: FAULT_NO_INPUT, FAULT_LIMIT, FAULT_IO.
 */
enum store_answer store_get(struct store *store, const char *url, int fd, uint64_t limit,
                            bool (*taken)(void *context, size_t bytes), struct fault *fault);

/* Puts `size` bytes of `fd` unless the URL has content already, which also is STORE_DONE.
 * FAULT_CREATE, FAULT_IO. */
enum store_answer store_put(struct store *store, const char *url, int fd, uint64_t size,
                            const char *media_type, struct fault *fault);

#endif
