/* Targets of HTTP requests: path and query. */
#include <stdlib.h>
#include <string.h>

#include "daemon/serve/request.h"
#include "fuzz.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    struct request request;
    struct fault fault = FAULT_INIT;
    size_t length;
    char *target = fuzz_take_text(&bytes, '\0', &length);
    char *path = request_path(target);
    int result = request_of_query(&request, target,
                                  "chain format input file failed state limit after", &fault);
    if (result != (int)fault.code || (path && strlen(path) > length) ||
        (result == 0 && (strlen(request.chain) > 50000 || strlen(request.format) > 1000 ||
                         (request.file && strlen(request.file) > 4095))))
        fuzz_fail("a query was read as what it is not");
    request_finish(&request);
    free(path);
    free(target);
}
