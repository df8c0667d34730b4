/* Messages of clients of the jobs socket, and of the worker, as JSON. */
#include <string.h>

#include "daemon/serve/request.h"
#include "fuzz.h"
#include "worker/message.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct request request;
    struct message message;
    struct fault fault = FAULT_INIT, other = FAULT_INIT;
    int result = request_of_message(&request, bytes, size, &fault);
    if (result == 0 &&
        (request.id < 0 || strlen(request.chain) > 50000 || strlen(request.format) > 1000 ||
         (request.file && strlen(request.file) > 4095)))
        fuzz_fail("a request beyond its limits was taken");
    request_finish(&request);
    if (message_decode(&message, bytes, size, &other) == 0) {
        struct text again = {0};
        if (message_encode(&message, &again, &other) != 0 && other.code != FAULT_LIMIT)
            fuzz_fail("a message that was read cannot be written");
        text_finish(&again);
    }
    message_finish(&message);
}
