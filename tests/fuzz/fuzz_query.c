/* Targets of HTTP requests: path and query. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/serve/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct query query;
    struct fault fault = FAULT_INIT;
    char *target = malloc(size + 1);
    if (!target)
        abort();
    if (size > 0)
        memcpy(target, data, size);
    target[size] = '\0';
    int result = query_parse(&query, target, &fault);
    if (!query.path || (result != 0) != (fault.code != FAULT_NONE) ||
        strlen(query.path) > strlen(target))
        abort();
    query_finish(&query);
    free(target);
    return 0;
}
