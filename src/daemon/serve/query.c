#include "daemon/serve/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct parameter {
    const char *name;
    size_t offset;
} parameters[] = {
    {"chain", offsetof(struct query, chain)}, {"format", offsetof(struct query, format)},
    {"input", offsetof(struct query, input)}, {"file", offsetof(struct query, file)},
    {"state", offsetof(struct query, state)}, {"limit", offsetof(struct query, limit)},
    {"after", offsetof(struct query, after)}, {"failed", offsetof(struct query, failed)},
};
#define N_PARAMETERS (sizeof parameters / sizeof *parameters)

static char **field(const struct query *query, const struct parameter *parameter)
{
    return (char **)((char *)(uintptr_t)query + parameter->offset);
}

void query_finish(struct query *query)
{
    free(query->path);
    for (size_t i = 0; i < N_PARAMETERS; i++)
        free(*field(query, &parameters[i]));
    *query = (struct query){0};
}

bool query_is_among(const char *name, const char *names)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && strchr(" ,", at[length]))
            return true;
    return false;
}

int query_allows(const struct query *query, const char *names, struct fault *fault)
{
    for (size_t i = 0; i < N_PARAMETERS; i++)
        if (*field(query, &parameters[i]) && !query_is_among(parameters[i].name, names))
            return fault_set(fault, FAULT_USAGE, "unknown parameter '%s'; there are: %s",
                             parameters[i].name, names[0] ? names : "none");
    return 0;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns new text; NULL for a damaged escape, a NUL, or without memory. */
static char *decode(const char *text, size_t length, char plus)
{
    char *decoded = malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; decoded && i < length; i++) {
        int c = text[i] == '+' ? plus : (unsigned char)text[i];
        if (c == '%') {
            int high = length - i < 3 ? -1 : digit(text[i + 1]);
            int low = high < 0 ? -1 : digit(text[i + 2]);
            c = low < 0 ? 0 : high * 16 + low; /* 0: a damaged escape, or NUL */
            i += 2;
        }
        if (c == 0) {
            free(decoded);
            return NULL;
        }
        decoded[n++] = (char)c;
    }
    if (decoded)
        decoded[n] = '\0';
    return decoded;
}

static int read_parameter(struct query *query, const char *text, size_t length, struct fault *fault)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    char *name = decode(text, name_length, ' ');
    char *value = equals ? decode(equals + 1, length - name_length - 1, ' ') : strdup("");
    char **to = NULL;
    for (size_t i = 0; name && i < N_PARAMETERS; i++)
        if (strcmp(parameters[i].name, name) == 0)
            to = field(query, &parameters[i]);
    int result = 0;
    if (!name || !value)
        result =
            fault_set(fault, FAULT_USAGE,
                      "a %% in the query begins an escape such as %%2C; a percent sign is %%25");
    else if ((query->has_unknown = !to))
        result = fault_set(fault, FAULT_USAGE, "unknown parameter '%.60s'", name);
    else if (*to)
        result = fault_set(fault, FAULT_USAGE, "parameter '%s' is given twice", name);
    if (result == 0) {
        *to = value;
        value = NULL;
    }
    free(name);
    free(value);
    return result;
}

int query_parse(struct query *query, const char *target, struct fault *fault)
{
    *query = (struct query){0};
    size_t length = strcspn(target, "?#");
    query->path = decode(target, length, '+');
    if (!query->path) {
        query->path = strdup("");
        return fault_set(fault, FAULT_USAGE, "the path is no percent-encoded text");
    }
    const char *at = target + length;
    while (*at == '?' || *at == '&') {
        size_t part = strcspn(++at, "&#");
        if (part > 0) {
            int result = read_parameter(query, at, part, fault);
            if (result != 0)
                return result;
        }
        at += part;
    }
    return 0;
}
