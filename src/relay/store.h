/* Pictures from and results to an HTTP store: GET into a memory file, PUT from one. A transfer
 * follows no redirect and has 60 s, and 1 s more for each MiB. */
#ifndef SLUICE_RELAY_STORE_H
#define SLUICE_RELAY_STORE_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_answer {
    STORE_DONE,
    STORE_NEVER, /* the same would happen again: any answer 3xx or 4xx, too many bytes */
    STORE_LATER, /* 5xx, 408, 425, 429, no connection, too slow: it may pass */
};

/* One thread's; keeps connections open from one transfer to the next. */
struct store;

/* `stopped` is asked several times a second; true ends a transfer with STORE_LATER. FAULT_MEMORY.
 */
int store_create(struct store **store, bool (*stopped)(void *context), void *context,
                 struct fault *fault);
void store_destroy(struct store **store);

/* Fills `fd` with at most `limit` bytes; `taken` is asked before each piece is kept, and false ends
 * it with STORE_LATER. The fault tells why it is not done: FAULT_NO_INPUT, FAULT_LIMIT, FAULT_IO.
 */
enum store_answer store_get(struct store *store, const char *url, int fd, uint64_t limit,
                            bool (*taken)(void *context, size_t bytes), struct fault *fault);

/* Stores the `size` bytes of `fd` unless there is something at the URL already, which is
 * STORE_DONE, too. FAULT_CREATE, FAULT_IO. */
enum store_answer store_put(struct store *store, const char *url, int fd, uint64_t size,
                            const char *media_type, struct fault *fault);

#endif
