/* Messages of clients of the jobs socket, and of the worker, as JSON. */
#include <string.h>

#include "daemon/serve/ask.h"
#include "fuzz.h"
#include "worker/message.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct ask ask;
    struct message message;
    struct fault fault = FAULT_INIT, other = FAULT_INIT;
    int result = ask_decode(&ask, bytes, size, &fault);
    if (result == 0 && (ask.id < 0 || strlen(ask.chain) > 50000 || strlen(ask.format) > 1000 ||
                        (ask.file && strlen(ask.file) > 4095)))
        fuzz_fail("an ask beyond its limits was taken");
    ask_finish(&ask);
    if (message_decode(&message, bytes, size, &other) == 0) {
        struct text again = {0};
        if (message_encode(&message, &again, &other) != 0 && other.code != FAULT_LIMIT)
            fuzz_fail("a message that was read cannot be written");
        text_finish(&again);
    }
    message_finish(&message);
}
