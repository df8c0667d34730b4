#include "daemon/query.h"

#include <stdlib.h>
#include <string.h>

void query_finish(struct query *query)
{
    free(query->path);
    free(query->chain);
    free(query->format);
    free(query->input);
    *query = (struct query){0};
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that an escape stands for; 0: it is damaged, or a NUL. */
static int unescape(const char *text, size_t length)
{
    if (length < 3)
        return 0;
    int high = digit(text[1]), low = digit(text[2]);
    return high >= 0 && low >= 0 ? high * 16 + low : 0;
}

/* New text, or NULL: a damaged escape, a NUL, or no memory. */
static char *decode(const char *text, size_t length, char plus)
{
    char *decoded = malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; decoded && i < length; i++) {
        int c = text[i] == '+' ? plus : (unsigned char)text[i];
        if (c == '%') {
            c = unescape(text + i, length - i);
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

static char **find(struct query *query, const char *name)
{
    const struct {
        const char *name;
        char **to;
    } known[] = {{"chain", &query->chain}, {"format", &query->format}, {"input", &query->input}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].to;
    return NULL;
}

static int read_parameter(struct query *query, const char *text, size_t length, struct fault *fault)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    char *name = decode(text, name_length, ' ');
    char *value = equals ? decode(equals + 1, length - name_length - 1, ' ') : strdup("");
    char **to = name ? find(query, name) : NULL;
    int result = 0;
    if (!name || !value)
        result = fault_set(fault, FAULT_USAGE, "the query holds what is no percent-encoded text");
    else if (!to)
        result = fault_set(fault, FAULT_USAGE,
                           "unknown parameter '%.60s'; there are chain, format and input", name);
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
