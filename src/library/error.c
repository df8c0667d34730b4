/* Errors, and structs that may be those of an older or newer program. */
#include "library/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "version.h"

const char *sluice_version(void)
{
    return SLUICE_VERSION;
}

/* Faults that have no code of their own here are of the machine or of files, which the library does
 * not read for its callers. */
static int code_of(enum fault_code code)
{
    switch (code) {
    case FAULT_NONE:
        return 0;
    case FAULT_CHAIN:
    case FAULT_CONFIG:
        return SLUICE_E_CHAIN;
    case FAULT_USAGE:
        return SLUICE_E_USAGE;
    case FAULT_SHAPE:
        return SLUICE_E_SHAPE;
    case FAULT_LIMIT:
    case FAULT_KERNELS:
        return SLUICE_E_LIMIT;
    case FAULT_NO_DEVICE:
        return SLUICE_E_NO_DEVICE;
    case FAULT_DEVICE:
    case FAULT_IO:
    case FAULT_TIME:
        return SLUICE_E_DEVICE;
    case FAULT_MEMORY:
        return SLUICE_E_MEMORY;
    default:
        return SLUICE_E_INTERNAL;
    }
}

static const char *const words[] = {
    [-SLUICE_E_USAGE] = "usage",         [-SLUICE_E_CHAIN] = "chain",
    [-SLUICE_E_SHAPE] = "shape",         [-SLUICE_E_LIMIT] = "limit",
    [-SLUICE_E_NO_DEVICE] = "no-device", [-SLUICE_E_DEVICE] = "device",
    [-SLUICE_E_MEMORY] = "memory",       [-SLUICE_E_IMPORT] = "import",
    [-SLUICE_E_INTERNAL] = "internal",
};

void library_take(void *own, size_t size, const void *theirs)
{
    size_t given;
    memcpy(&given, theirs, sizeof given);
    memset(own, 0, size);
    memcpy(own, theirs, given < size ? given : size);
}

void library_give(void *theirs, const void *own, size_t size)
{
    size_t room;
    memcpy(&room, theirs, sizeof room);
    if (room > size)
        room = size;
    if (room > sizeof room)
        memcpy((char *)theirs + sizeof room, (const char *)own + sizeof room, room - sizeof room);
}

static int give_error(struct sluice_error *error, int code, int position, int length,
                      const char *text)
{
    struct sluice_error own = {.code = code, .position = position, .length = length};
    if (!error)
        return code;
    snprintf(own.word, sizeof own.word, "%s", code ? words[-code] : "");
    snprintf(own.message, sizeof own.message, "%s", text);
    library_give(error, &own, sizeof own);
    return code;
}

int library_fail(struct sluice_error *error, const struct fault *fault)
{
    return give_error(error, code_of(fault->code), fault->position, fault->length, fault->text);
}

int library_error(struct sluice_error *error, int code, const char *format, ...)
{
    char text[480];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return give_error(error, code, -1, 0, text);
}

size_t sluice_error_print(const struct sluice_error *error, const char *text, char *to, size_t room)
{
    struct sluice_error own;
    struct text all = {0};
    library_take(&own, sizeof own, error);
    struct fault fault = {.code = FAULT_CHAIN, .position = own.position, .length = own.length};
    text_append(&all, own.message);
    if (text && own.code == SLUICE_E_CHAIN) {
        struct text place = {0};
        fault_print_caret(&fault, text, &place);
        if (place.length > 0) /* it ends with a line end */
            text_printf(&all, "\n%.*s", (int)place.length - 1, text_string(&place));
        text_finish(&place);
    }
    size_t length = all.length;
    if (room > 0)
        snprintf(to, room, "%s", text_string(&all));
    text_finish(&all);
    return length;
}
