#include "base/fault.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *name;
    unsigned char exit_status;
    bool temporary;
} codes[FAULT_CODES] = {
    [FAULT_NONE] = {"ok", 0, false},
    [FAULT_USAGE] = {"usage", 64, false},
    [FAULT_CHAIN] = {"chain", 64, false},
    [FAULT_FORMAT] = {"format", 65, false},
    [FAULT_DATA] = {"data", 65, false},
    [FAULT_TRUNCATED] = {"truncated", 65, false},
    [FAULT_EMPTY] = {"empty", 65, false},
    [FAULT_LIMIT] = {"limit", 65, false},
    [FAULT_SHAPE] = {"shape", 65, false},
    [FAULT_NO_INPUT] = {"no-input", 66, false},
    [FAULT_NO_DEVICE] = {"no-device", 69, true},
    [FAULT_DEVICE] = {"device", 70, true},
    [FAULT_VERIFY] = {"verify", 70, false},
    [FAULT_MEMORY] = {"memory", 70, true},
    [FAULT_INTERNAL] = {"internal", 70, false},
    [FAULT_CREATE] = {"create", 73, false},
    [FAULT_EXISTS] = {"exists", 73, false},
    [FAULT_IO] = {"io", 74, false},
    [FAULT_NO_SPACE] = {"no-space", 74, true},
    [FAULT_BUSY] = {"busy", 75, true},
    [FAULT_KERNELS] = {"too-many-kernels", 75, false},
    [FAULT_PERMISSION] = {"permission", 77, false},
    [FAULT_CONFIG] = {"config", 78, false},
    [FAULT_CRASHED] = {"crashed-worker", 70, false},
    [FAULT_TIME] = {"job-time", 70, false},
    [FAULT_INTERRUPTED] = {"interrupted", 70, false},
};

static int store(struct fault *fault, enum fault_code code, int position, int length,
                 const char *format, va_list args)
{
    if (!fault)
        return code;
    if (fault->code != FAULT_NONE)
        return fault->code;
    fault->code = code;
    fault->position = position;
    fault->length = length;
    vsnprintf(fault->text, sizeof fault->text, format, args);
    return code;
}

int fault_set(struct fault *fault, enum fault_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = store(fault, code, -1, 0, format, args);
    va_end(args);
    return result;
}

int fault_set_at(struct fault *fault, enum fault_code code, int position, int length,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = store(fault, code, position, length, format, args);
    va_end(args);
    return result;
}

int fault_set_errno(struct fault *fault, enum fault_code code, const char *what)
{
    int error = errno;
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        code = FAULT_NO_SPACE;
        break;
    case ENOMEM:
        code = FAULT_MEMORY;
        break;
    case EACCES:
    case EPERM:
        code = FAULT_PERMISSION;
        break;
    default:
        break;
    }
    return fault_set(fault, code, "%s%s%s", what ? what : "", what ? ": " : "", strerror(error));
}

size_t faults_count(const struct faults *faults)
{
    size_t n = 0;
    while (n < FAULTS_MAX && faults->list[n].code != FAULT_NONE)
        n++;
    return n;
}

struct fault *faults_next(struct faults *faults)
{
    size_t n = faults_count(faults);
    return n < FAULTS_MAX ? &faults->list[n] : NULL;
}

int faults_first(const struct faults *faults, struct fault *fault)
{
    const struct fault *first = &faults->list[0];
    if (first->code == FAULT_NONE)
        return 0;
    return fault_set_at(fault, first->code, first->position, first->length, "%s", first->text);
}

void fault_clear(struct fault *fault)
{
    *fault = (struct fault)FAULT_INIT;
}

const char *fault_name(enum fault_code code)
{
    return code < FAULT_CODES ? codes[code].name : "internal";
}

enum fault_code fault_by_name(const char *name)
{
    for (int code = 0; code < FAULT_CODES; code++)
        if (strcmp(name, codes[code].name) == 0)
            return code;
    return FAULT_INTERNAL;
}

int fault_exit_status(enum fault_code code)
{
    return code < FAULT_CODES ? codes[code].exit_status : 70;
}

bool fault_is_temporary(enum fault_code code)
{
    return code < FAULT_CODES && codes[code].temporary;
}

void fault_print_caret(const struct fault *fault, const char *source, struct text *text)
{
    int length = (int)strlen(source);
    if (fault->position < 0 || fault->position > length)
        return;
    /* A part of the text that fits a terminal and contains the marked place. */
    int begin = fault->position > 60 ? fault->position - 40 : 0;
    int shown = length - begin > 100 ? 100 : length - begin;
    int carets = fault->length > 0 ? fault->length : 1;
    if (carets > begin + shown - fault->position)
        carets = begin + shown - fault->position;
    text_append(text, "  ");
    for (int i = begin; i < begin + shown; i++)
        text_printf(text, "%c", isprint((unsigned char)source[i]) ? source[i] : ' ');
    text_printf(text, "\n  %*s", fault->position - begin, "");
    for (int i = 0; i < (carets > 0 ? carets : 1); i++)
        text_append(text, "^");
    text_append(text, "\n");
}
