#include "daemon/serve/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/number.h"
#include "worker/json_text.h"

#define VALUES_MAX 64    /* of fields and values; nothing that is asked has so many */
#define CHAIN_MAX  50000 /* fits into a worker's message; a chain's own limit may be lower */
#define FORMAT_MAX 1000
#define FILE_MAX   4095
#define AFTER_MAX  (3 * FILE_MAX + 40) /* of a cursor, which has a name percent-encoded */

static const struct {
    const char *name, *fields;
} kinds[] = {[REQUEST_JOB] = {"job", "id type chain format name input"},
             [REQUEST_STATUS] = {"status", "id type"},
             [REQUEST_WHY] = {"why", "id type file"},
             [REQUEST_REQUEUE] = {"requeue", "id type file failed"},
             [REQUEST_FILES] = {"files", "id type state after limit"},
             [REQUEST_EVENTS] = {"events", "id type after"}};

#define N_KINDS (sizeof kinds / sizeof *kinds)

static const struct {
    const char *name;
    size_t offset, most; /* bytes */
    enum fault_code wrong;
} texts[] = {{"chain", offsetof(struct request, chain), CHAIN_MAX, FAULT_CHAIN},
             {"format", offsetof(struct request, format), FORMAT_MAX, FAULT_USAGE},
             {"name", offsetof(struct request, name), FORMAT_MAX, FAULT_USAGE},
             {"input", offsetof(struct request, input), FORMAT_MAX, FAULT_USAGE},
             {"file", offsetof(struct request, file), FILE_MAX, FAULT_USAGE},
             {"state", offsetof(struct request, state), FORMAT_MAX, FAULT_USAGE},
             {"after", offsetof(struct request, after), AFTER_MAX, FAULT_USAGE}};

#define N_TEXTS (sizeof texts / sizeof *texts)

void request_finish(struct request *request)
{
    json_decref(request->json);
    *request = (struct request){.id = -1};
}

bool request_names(const char *names, const char *name)
{
    size_t length = strpbrk(name, " ,") ? 0 : strlen(name);
    for (const char *at = names; length > 0 && (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && strchr(" ,", at[length]))
            return true;
    return false;
}

/* ---- fields ---- */

/* Reads the object's fields, which are to be among `names`; NULs in texts are refused by the
 * parser. The object belongs to the request. */
static int read_fields(struct request *request, const char *names, struct fault *fault)
{
    const char *key;
    json_t *value;
    json_object_foreach (request->json, key, value) {
        size_t i = 0;
        while (i < N_TEXTS && strcmp(texts[i].name, key) != 0)
            i++;
        if (!request_names(names, key))
            return fault_set(fault, FAULT_DATA, "field '%.60s' is unknown", key);
        if (i < N_TEXTS && !json_is_string(value))
            return fault_set(fault, FAULT_DATA, "field '%s' is no text", key);
        if (i < N_TEXTS && json_string_length(value) > texts[i].most)
            return fault_set(fault, texts[i].wrong, "field '%s' has at most %zu bytes", key,
                             texts[i].most);
        if (i < N_TEXTS)
            *(const char **)((char *)request + texts[i].offset) = json_string_value(value);
        if (strcmp(key, "failed") == 0 && !(request->failed = json_is_true(value)))
            return fault_set(fault, FAULT_DATA, "field 'failed' is not true");
        if (strcmp(key, "limit") == 0 && (request->limit = json_integer_value(value)) <= 0)
            return fault_set(fault, FAULT_DATA, "field 'limit' is no integer from 1 up");
    }
    return 0;
}

/* ---- a message of the jobs socket ---- */

int request_of_message(struct request *request, const char *bytes, size_t size, struct fault *fault)
{
    json_error_t error;
    size_t kind = 0;
    *request = (struct request){.id = -1, .chain = "", .format = "auto"};
    if (!json_is_small(bytes, size, VALUES_MAX))
        return fault_set(fault, FAULT_DATA, "more than %d fields and values", VALUES_MAX);
    request->json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!request->json)
        return fault_set(fault, FAULT_DATA, "no JSON: %.200s", error.text);
    if (!json_is_object(request->json))
        return fault_set(fault, FAULT_DATA, "no JSON object");
    const json_t *id = json_object_get(request->json, "id");
    const json_t *type = json_object_get(request->json, "type");
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return fault_set(fault, FAULT_DATA, "field 'id' is no integer from 0 up");
    request->id = json_integer_value(id);
    while (type && kind < N_KINDS &&
           !(json_is_string(type) && strcmp(kinds[kind].name, json_string_value(type)) == 0))
        kind++;
    if (kind == N_KINDS)
        return fault_set(fault, FAULT_DATA,
                         "field 'type' is none of job, status, why, requeue, files, events");
    request->kind = (enum request_kind)kind;
    if (read_fields(request, kinds[kind].fields, fault) != 0)
        return fault->code = FAULT_DATA; /* whichever field is wrong, it is the message */
    if (kind == REQUEST_WHY && !request->file)
        return fault_set(fault, FAULT_DATA, "field 'file' is missing");
    if (kind == REQUEST_REQUEUE && !request->file == !request->failed)
        return fault_set(fault, FAULT_DATA, "requeue takes either 'file' or 'failed'");
    return 0;
}

/* ---- a request of HTTP ---- */

/* Returns new text; NULL for a damaged escape, a NUL, or without memory. */
static char *decode(const char *text, size_t length, char plus)
{
    char *decoded = strndup(text, length);
    for (char *c = decoded; c && *c; c++)
        *c = *c == '+' ? plus : *c;
    if (decoded && name_unescape(decoded, decoded, length + 1))
        return decoded;
    free(decoded);
    return NULL;
}

char *request_path(const char *target)
{
    return decode(target, strcspn(target, "?#"), '+');
}

int request_of_query(struct request *request, const char *target, const char *names,
                     struct fault *fault)
{
    const char *at = target + strcspn(target, "?#");
    int result = 0;
    *request = (struct request){.id = -1, .chain = "", .format = "auto", .json = json_object()};
    while (result == 0 && (*at == '?' || *at == '&')) {
        size_t part = strcspn(++at, "&#"), length = strcspn(at, "=&#");
        const char *text = at;
        at += part;
        if (part == 0)
            continue;
        char *name = decode(text, length, ' ');
        char *value =
            length < part ? decode(text + length + 1, part - length - 1, ' ') : strdup("");
        if (!name || !value)
            result = fault_set(
                fault, FAULT_DATA,
                "a %% in the query begins an escape such as %%2C; a percent sign is %%25");
        else if (!request_names(names, name))
            result = fault_set(fault, FAULT_DATA, "unknown parameter '%.60s'; there are: %s", name,
                               names[0] ? names : "none");
        else if (json_object_get(request->json, name))
            result = fault_set(fault, FAULT_DATA, "parameter '%s' is given twice", name);
        if (result == 0) {
            /* as a field has it; one that is no number is as wrong as one that is too large */
            int64_t limit;
            bool good = number_parse_integer(value, strlen(value), &limit) && limit > 0;
            json_t *field = strcmp(name, "failed") == 0 ? json_boolean(strcmp(value, "1") == 0)
                            : strcmp(name, "limit") == 0
                                ? json_integer(good ? limit : INT64_MAX)
                                : json_stringn_nocheck(value, strlen(value));
            if (json_object_set_new_nocheck(request->json, name, field) != 0)
                result = fault_set(fault, FAULT_MEMORY, "no memory for a request");
        }
        free(name);
        free(value);
    }
    if (result == 0)
        result = read_fields(request, names, fault);

    /* Texts that may be empty are as if they were not given then. */
    const char **const each[] = {&request->format, &request->name, &request->input, &request->state,
                                 &request->after};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (*each[i] && !(*each[i])[0])
            *each[i] = each[i] == &request->format ? "auto" : NULL;
    return result;
}

int request_add_body(struct request *request, const char *bytes, size_t size, const char *names,
                     struct fault *fault)
{
    json_t *body = json_is_small(bytes, size, VALUES_MAX)
                       ? json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;
    if (!json_is_object(body))
        fault_set(fault, FAULT_DATA, "the body is no JSON object");
    else if (json_object_update_missing(request->json, body) != 0)
        fault_set(fault, FAULT_MEMORY, "no memory for a request");
    else
        read_fields(request, names, fault);
    json_decref(body);
    return fault->code;
}
