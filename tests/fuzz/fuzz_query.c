/* Targets of HTTP requests: path and query. */
#include <stdlib.h>
#include <string.h>

#include "daemon/serve/query.h"
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    struct query query;
    struct fault fault = FAULT_INIT;
    size_t length;
    char *target = fuzz_take_text(&bytes, '\0', &length);
    int result = query_parse(&query, target, &fault);
    if (!query.path || (result != 0) != (fault.code != FAULT_NONE) || strlen(query.path) > length)
        fuzz_fail("a query was read as what it is not");
    query_finish(&query);
    free(target);
}
