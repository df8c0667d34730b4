#include "worker/message.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "worker/json_text.h"

enum field_type {
    FIELD_INTEGER,
    FIELD_TEXT,
    FIELD_WORD,  /* becomes part of a file name: letters and digits only */
    FIELD_WORDS, /* the same, several with ; between them */
    FIELD_PLANE,
    FIELD_PLANES,
    FIELD_OF,
    FIELD_REPORT,
    FIELD_FAULTS,
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset;      /* in struct message */
    unsigned required;  /* the kinds that must have it, one bit each */
    unsigned optional;  /* the kinds that may have it */
    int64_t min, limit; /* range of an integer; limit: the longest text in bytes */
    int64_t absent;     /* value of an integer that is not in the message */
};

#define AT(member)   offsetof(struct message, member)
#define BIT(kind)    (1u << MESSAGE_##kind)
#define ABOUT_A_JOB  (BIT(BEGAN) | BIT(NEED_OUTPUT) | BIT(OUTPUT) | BIT(DONE))
#define ANSWER       (BIT(CHECKED) | BIT(DONE) | BIT(DESCRIBED) | BIT(MOVED))
#define SIZE_LIMIT   (INT64_C(1) << 50)
#define CHAIN_LIMIT  60000 /* more than chain/ accepts, which refuses the chains in between */
#define FORMAT_LIMIT 1000
#define WARNING_MAX  200 /* bytes; the decoders' warnings are shorter */
#define WARNINGS_MAX 16

static const struct field fields[] = {
    {"id", FIELD_INTEGER, AT(id), BIT(JOB) | BIT(CHECK) | BIT(CHECKED) | ABOUT_A_JOB | BIT(MOVED),
     0, 0, INT64_MAX, -1},
    {"device", FIELD_TEXT, AT(device), BIT(SETUP), BIT(CHECKED) | BIT(MOVED), 0, 300, 0},
    {"threads", FIELD_INTEGER, AT(threads), BIT(SETUP), 0, 1, 1024, 0},
    {"why", FIELD_TEXT, AT(why), 0, BIT(CHECKED), 0, 600, 0},
    {"wipe", FIELD_INTEGER, AT(wipe), 0, BIT(SETUP), 0, 1, 0},
    {"prepared", FIELD_INTEGER, AT(prepared), 0, BIT(WORKING) | BIT(MOVED), 0, 1000000, 0},
    {"of", FIELD_INTEGER, AT(to_prepare), 0, BIT(WORKING) | BIT(MOVED), 0, 1000000, 0},
    {"tier", FIELD_WORD, AT(tier), 0, BIT(CHECKED) | BIT(MOVED), 0, 20, 0},
    {"pid", FIELD_INTEGER, AT(pid), BIT(KEPT), 0, 1, INT32_MAX, 0},
    {"level", FIELD_TEXT, AT(level), 0, BIT(CHECKED), 0, 200, 0},
    {"chain", FIELD_TEXT, AT(chain), BIT(JOB) | BIT(CHECK), 0, 0, CHAIN_LIMIT, 0},
    {"format", FIELD_TEXT, AT(format), BIT(JOB) | BIT(CHECK), 0, 0, FORMAT_LIMIT, 0},
    {"time", FIELD_INTEGER, AT(time), 0, BIT(JOB), 0, INT64_MAX, 0},
    {"say_began", FIELD_INTEGER, AT(say_began), 0, BIT(JOB), 0, 1, 0},
    {"input", FIELD_TEXT, AT(input), 0, BIT(JOB) | BIT(CHECK), 0, FORMAT_LIMIT, 0},
    {"result", FIELD_TEXT, AT(result), ANSWER | BIT(OUTPUT), 0, 0, 40, 0},
    {"text", FIELD_TEXT, AT(text), 0, ANSWER | BIT(OUTPUT), 0, 4000, 0},
    {"subject", FIELD_TEXT, AT(subject), 0, ANSWER, 0, 20, 0},
    {"position", FIELD_INTEGER, AT(position), 0, ANSWER, 0, CHAIN_LIMIT, -1},
    {"length", FIELD_INTEGER, AT(length), 0, ANSWER, 0, CHAIN_LIMIT, 0},
    {"faults", FIELD_FAULTS, AT(faults), 0, BIT(CHECKED) | BIT(DONE), 0, 0, 0},
    {"step", FIELD_TEXT, AT(step), 0, BIT(DONE), 0, 20, 0},
    {"extension", FIELD_WORDS, AT(extension), 0, BIT(CHECKED) | BIT(DONE), 0, 20, 0},
    {"media_type", FIELD_TEXT, AT(media_type), 0, BIT(DONE), 0, 100 * MESSAGE_RESULTS_MAX, 0},
    {"report", FIELD_REPORT, AT(report), 0, BIT(DONE), 0, 0, 0},
    {"builds", FIELD_INTEGER, AT(builds), 0, ANSWER, 0, INT64_MAX, 0},
    {"cache_hits", FIELD_INTEGER, AT(cache_hits), 0, ANSWER, 0, INT64_MAX, 0},
    {"buffer_bytes", FIELD_INTEGER, AT(buffer_bytes), 0, ANSWER, 0, INT64_MAX, 0},
    {"client_kernels", FIELD_INTEGER, AT(client_kernels), 0, ANSWER, 0, INT64_MAX, 0},
    {"plane", FIELD_PLANE, AT(plane), BIT(NEED_OUTPUT) | BIT(OUTPUT), 0, 0, 0, 0},
    {"result_of", FIELD_INTEGER, AT(result_of), 0, BIT(NEED_OUTPUT) | BIT(OUTPUT), 0,
     MESSAGE_RESULTS_MAX - 1, 0},
    {"planes", FIELD_PLANES, AT(planes), 0, BIT(DONE), 0, 0, 0},
    {"results_of", FIELD_OF, AT(of), 0, BIT(DONE), 0, 0, 0},
    {"total", FIELD_INTEGER, AT(total), 0, BIT(DONE), 0, INT64_MAX, 0},
};
#define N_FIELDS (sizeof fields / sizeof *fields)

/* Names of the kinds, and how many descriptors come with each. An `output` without a descriptor is
 * a refusal. */
static const struct {
    const char *name;
    unsigned min_fds, max_fds;
} kinds[MESSAGE_KINDS] = {
    [MESSAGE_JOB] = {"job", 2, 2},
    [MESSAGE_SETUP] = {"setup", 1, 2},
    [MESSAGE_CHECK] = {"check", 0, 0},
    [MESSAGE_CHECKED] = {"checked", 0, 0},
    [MESSAGE_WORKING] = {"working", 0, 0},
    [MESSAGE_BEGAN] = {"began", 0, 0},
    [MESSAGE_NEED_OUTPUT] = {"need-output", 0, 0},
    [MESSAGE_OUTPUT] = {"output", 0, 1},
    [MESSAGE_DONE] = {"done", 0, 0},
    [MESSAGE_DESCRIBE] = {"describe", 1, 1},
    [MESSAGE_DESCRIBED] = {"described", 0, 0},
    [MESSAGE_PING] = {"ping", 0, 0},
    [MESSAGE_PONG] = {"pong", 0, 0},
    [MESSAGE_KEPT] = {"kept", 0, 0},
    [MESSAGE_MOVED] = {"moved", 0, 0},
};

const char *message_kind_name(enum message_kind kind)
{
    return kinds[kind].name;
}

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

bool message_is_plane_name(const char *name)
{
    size_t length = strlen(name);
    return length >= 1 && length <= 31 && strspn(name, LETTERS_AND_DIGITS "_-") == length;
}

bool message_is_stage_label(const char *label)
{
    size_t length = label ? strlen(label) : 0;
    return length >= 1 && length <= 63 &&
           strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789_-+") == length;
}

static bool is_word(const char *text, size_t longest)
{
    size_t length = strlen(text);
    return length <= longest && strspn(text, LETTERS_AND_DIGITS) == length;
}

static bool are_words(const char *text, size_t longest)
{
    size_t length;
    const char *word;
    for (size_t i = 0; (word = text_find_part(text, i, &length)) != NULL; i++)
        if (i == MESSAGE_RESULTS_MAX || length > longest ||
            strspn(word, LETTERS_AND_DIGITS) < length)
            return false;
    return true;
}

void message_init(struct message *message, enum message_kind kind)
{
    *message = (struct message){.kind = kind, .position = -1};
    for (size_t i = 0; i < MESSAGE_FDS_MAX; i++)
        message->fds[i] = -1;
}

void message_finish(struct message *message)
{
    for (size_t i = 0; i < message->n_fds; i++)
        file_close(&message->fds[i]);
    json_decref(message->json);
    message->json = NULL;
    message->n_fds = 0;
}

int message_take_fd(struct message *message, size_t index)
{
    if (index >= message->n_fds)
        return -1;
    int fd = message->fds[index];
    message->fds[index] = -1;
    return fd;
}

void message_set_fault(struct message *message, const struct fault *fault)
{
    message->result = fault_name(fault->code);
    message->text = fault->code ? fault->text : NULL;
    message->position = fault->position;
    message->length = fault->length;
}

int message_get_fault(const struct message *message, struct fault *fault)
{
    enum fault_code code = fault_by_name(message->result);
    if (code == FAULT_NONE)
        return 0;
    return fault_set_at(fault, code, (int)message->position, (int)message->length, "%s",
                        message->text ? message->text : message->result);
}

void message_get_faults(const struct message *message, struct faults *faults)
{
    *faults = message->faults;
    if (faults_count(faults) == 0)
        message_get_fault(message, faults_next(faults));
}

static json_t *make_planes(const struct message *message)
{
    json_t *planes = json_array();
    for (size_t i = 0; planes && i < message->n_planes; i++) {
        if (json_array_append_new(planes, json_string(message->planes[i])) != 0) {
            json_decref(planes);
            return NULL;
        }
    }
    return planes;
}

static json_t *make_of(const struct message *message)
{
    json_t *of = json_array();
    for (size_t i = 0; of && i < message->n_planes; i++)
        json_array_append_new(of, json_integer(message->of[i]));
    return of;
}

static json_t *make_faults(const struct faults *faults)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults_count(faults); i++) {
        const struct fault *fault = &faults->list[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:i, s:i}", "result", fault_name(fault->code),
                                        "text", json_text(fault->text), "position", fault->position,
                                        "length", fault->length));
    }
    return list;
}

static const void *member(const struct field *field, const struct message *message)
{
    return (const char *)message + field->offset;
}

static bool is_absent(const struct field *field, const struct message *message)
{
    if (field->type == FIELD_INTEGER)
        return *(const int64_t *)member(field, message) == field->absent;
    if (field->type == FIELD_PLANES)
        return message->n_planes == 0;
    if (field->type == FIELD_OF) /* all are of the only result */
        return message->n_planes == 0 || message->of[message->n_planes - 1] == 0;
    if (field->type == FIELD_REPORT)
        return message->report == NULL;
    if (field->type == FIELD_FAULTS)
        return faults_count(&message->faults) == 0;
    return *(const char *const *)member(field, message) == NULL;
}

static json_t *make_field(const struct field *field, const struct message *message)
{
    if (field->type == FIELD_INTEGER)
        return json_integer(*(const int64_t *)member(field, message));
    if (field->type == FIELD_PLANES)
        return make_planes(message);
    if (field->type == FIELD_OF)
        return make_of(message);
    if (field->type == FIELD_REPORT)
        return json_incref(message->report);
    if (field->type == FIELD_FAULTS)
        return make_faults(&message->faults);
    return json_text(*(const char *const *)member(field, message));
}

static json_t *make_object(const struct message *message)
{
    unsigned bit = 1u << message->kind;
    json_t *object = json_object();
    int failed =
        object ? json_object_set_new(object, "type", json_string(message_kind_name(message->kind)))
               : -1;
    for (size_t i = 0; i < N_FIELDS && failed == 0; i++)
        if (((fields[i].required | fields[i].optional) & bit) && !is_absent(&fields[i], message))
            failed = json_object_set_new(object, fields[i].name, make_field(&fields[i], message));
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

int message_encode(const struct message *message, struct text *json, struct fault *fault)
{
    json_append(json, make_object(message));
    if (json->failed)
        return fault_set(fault, FAULT_MEMORY, "no memory for a message");
    if (json->length > MESSAGE_BYTES_MAX)
        return fault_set(fault, FAULT_LIMIT, "a message of %s; the limit is %s",
                         number_size(json->length), number_size(MESSAGE_BYTES_MAX));
    return 0;
}

static int wrong(struct fault *fault, const struct message *message, const char *name,
                 const char *why)
{
    return fault_set(fault, FAULT_DATA, "message '%s': %.60s %s", message_kind_name(message->kind),
                     name, why);
}

static int read_planes(struct message *message, const json_t *value, struct fault *fault)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > MESSAGE_PLANES_MAX)
        return wrong(fault, message, "planes", "is no list of at most 256 names");
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(value, i));
        if (!name || (name[0] && !message_is_plane_name(name)))
            return wrong(fault, message, "planes", "holds what is no plane's name");
        message->planes[i] = name;
    }
    message->n_planes = count;
    return 0;
}

static int read_of(struct message *message, const json_t *value, struct fault *fault)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > MESSAGE_PLANES_MAX)
        return wrong(fault, message, "results_of", "is no list of at most 256 numbers");
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        json_int_t of = json_integer_value(number);
        if (!json_is_integer(number) || of < 0 || of >= MESSAGE_RESULTS_MAX)
            return wrong(fault, message, "results_of", "holds what is no result's number");
        message->of[i] = (unsigned char)of;
    }
    return 0;
}

/* Each result is a file of its own without a plane, or has planes, each once; results come in their
 * order, and none is left out. */
static int check_files(struct message *message, struct fault *fault)
{
    for (size_t i = 0; i < message->n_planes; i++) {
        unsigned of = message->of[i], before = i > 0 ? message->of[i - 1] : 0;
        size_t first = i;
        if (of > before + (i > 0) || of < before)
            return wrong(fault, message, "results_of", "leaves a result out");
        while (first > 0 && message->of[first - 1] == of)
            first--;
        if (!message->planes[i][0] && first < i)
            return wrong(fault, message, "planes", "holds what is no plane's name");
        for (size_t k = first; k < i; k++)
            if (!message->planes[k][0] || strcmp(message->planes[i], message->planes[k]) == 0)
                return wrong(fault, message, "planes", "holds a name twice");
    }
    return 0;
}

/* Looks for negative numbers in objects and lists, as deep as the JSON reader allows. */
static bool has_negative(const json_t *value)
{
    const char *key;
    json_t *part;
    size_t i;
    bool found = json_number_value(value) < 0;
    json_object_foreach ((json_t *)(uintptr_t)value, key, part)
        found |= has_negative(part);
    json_array_foreach (value, i, part)
        found |= has_negative(part);
    return found;
}

/* Warnings go into headers and logs unchanged, so they must be printable. */
static bool are_warnings(const json_t *list)
{
    const json_t *line;
    size_t i;
    bool good = !list || (json_is_array(list) && json_array_size(list) <= WARNINGS_MAX);
    json_array_foreach (list, i, line) {
        const char *text = json_string_value(line);
        size_t length = text ? strlen(text) : 0;
        good &= length > 0 && length <= WARNING_MAX;
        for (size_t k = 0; k < length; k++)
            good &= text[k] >= ' ' && text[k] <= '~';
    }
    return good;
}

const char *message_warning(const struct message *message, size_t index)
{
    return json_string_value(json_array_get(json_object_get(message->report, "warnings"), index));
}

double message_figure(const struct message *message, const char *name)
{
    return json_number_value(json_object_get(message->report, name));
}

static int read_faults(struct message *message, const json_t *value, struct fault *fault)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > FAULTS_MAX)
        return wrong(fault, message, "faults", "is no list of at most 16");
    for (size_t i = 0; i < count; i++) {
        const char *result, *text;
        int position, length;
        if (json_unpack(json_array_get(value, i), "{s:s, s:s, s:i, s:i!}", "result", &result,
                        "text", &text, "position", &position, "length", &length) != 0 ||
            strcmp(result, fault_name(FAULT_NONE)) == 0 || position < -1 ||
            position > CHAIN_LIMIT || length < 0 || length > CHAIN_LIMIT)
            return wrong(fault, message, "faults", "holds what is none");
        fault_set_at(faults_next(&message->faults), fault_by_name(result), position, length, "%s",
                     text);
    }
    return 0;
}

static int read_field(struct message *message, const struct field *field, const json_t *value,
                      struct fault *fault)
{
    void *at = (char *)message + field->offset;
    const char *text = json_string_value(value);
    switch (field->type) {
    case FIELD_INTEGER:
        *(int64_t *)at = json_integer_value(value);
        if (!json_is_integer(value) || json_integer_value(value) < field->min ||
            json_integer_value(value) > field->limit)
            return wrong(fault, message, field->name, "is no integer in its range");
        return 0;
    case FIELD_TEXT:
        *(const char **)at = text;
        return text && json_string_length(value) <= (size_t)field->limit
                   ? 0
                   : wrong(fault, message, field->name, "is no text of its length");
    case FIELD_WORD:
        *(const char **)at = text;
        return text && is_word(text, (size_t)field->limit)
                   ? 0
                   : wrong(fault, message, field->name, "is no word");
    case FIELD_WORDS:
        *(const char **)at = text;
        return text && are_words(text, (size_t)field->limit)
                   ? 0
                   : wrong(fault, message, field->name, "holds what is no word");
    case FIELD_PLANE:
        *(const char **)at = text;
        return text && (!text[0] || message_is_plane_name(text))
                   ? 0
                   : wrong(fault, message, field->name, "is no plane's name");
    case FIELD_PLANES:
        return read_planes(message, value, fault);
    case FIELD_OF:
        return read_of(message, value, fault);
    case FIELD_REPORT:
        message->report = (void *)(uintptr_t)value;
        if (!json_is_object(value) || has_negative(value) ||
            !are_warnings(json_object_get(value, "warnings")))
            return wrong(fault, message, field->name, "is no object of times, counts, warnings");
        return 0;
    case FIELD_FAULTS:
        return read_faults(message, value, fault);
    }
    return fault_set(fault, FAULT_INTERNAL, "a field of no type");
}

/* An object without a type is a job. */
static int read_kind(struct message *message, const json_t *object, struct fault *fault)
{
    const json_t *type = json_object_get(object, "type");
    if (!type)
        return 0;
    for (int kind = 0; kind < MESSAGE_KINDS && json_is_string(type); kind++) {
        if (strcmp(kinds[kind].name, json_string_value(type)) == 0) {
            message->kind = kind;
            return 0;
        }
    }
    return fault_set(fault, FAULT_DATA, "a message of unknown type");
}

static int read_object(struct message *message, json_t *object, struct fault *fault)
{
    const char *key;
    json_t *value;
    uint64_t seen = 0;
    _Static_assert(N_FIELDS <= 64, "one bit a field");
    int result = read_kind(message, object, fault);
    unsigned bit = 1u << message->kind;
    json_object_foreach (object, key, value) {
        const struct field *field = fields;
        while (field < fields + N_FIELDS && strcmp(field->name, key) != 0)
            field++;
        if (result == 0 && strcmp(key, "type") != 0) {
            if (field == fields + N_FIELDS || !((field->required | field->optional) & bit))
                return wrong(fault, message, key, "is no field of it");
            seen |= UINT64_C(1) << (field - fields);
            result = read_field(message, field, value, fault);
        }
    }
    for (size_t i = 0; i < N_FIELDS && result == 0; i++)
        if ((fields[i].required & bit) && !(seen & UINT64_C(1) << i))
            result = wrong(fault, message, fields[i].name, "is missing");
    if (result == 0)
        result = check_files(message, fault);
    return result;
}

int message_decode(struct message *message, const char *json, size_t size, struct fault *fault)
{
    json_error_t error;
    message_init(message, MESSAGE_JOB);
    if (size > MESSAGE_BYTES_MAX)
        return fault_set(fault, FAULT_DATA, "a message of more than %s",
                         number_size(MESSAGE_BYTES_MAX));
    json_t *object = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return fault_set(fault, FAULT_DATA, "a message that is no JSON: %s", error.text);
    message->json = object;
    int result = json_is_object(object)
                     ? read_object(message, object, fault)
                     : fault_set(fault, FAULT_DATA, "a message that is no JSON object");
    if (result != 0)
        message_finish(message);
    return result;
}

/* ---- sockets: bytes, and descriptors beside them ---- */

/* Buffer for the descriptors of a message; the union aligns it. */
union control {
    char bytes[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
    struct cmsghdr header;
};

int message_send_encoded(int socket, const struct text *json, const int *fds, size_t n_fds,
                         struct fault *fault)
{
    union control control = {{0}};
    struct iovec bytes = {json->data, json->length};
    struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (n_fds > MESSAGE_FDS_MAX)
        return fault_set(fault, FAULT_INTERNAL, "%zu descriptors in one message", n_fds);
    if (n_fds > 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, n_fds * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return 0;
    bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ||
                errno == ETOOMANYREFS; /* too many descriptors are in flight already */
    return fault_set(fault, full ? FAULT_BUSY : FAULT_IO, "sendmsg: %s", strerror(errno));
}

/* Takes the descriptors out of what recvmsg returned. Those for which there is no room are closed.
 */
static size_t take_rights(struct msghdr *header, int *fds)
{
    size_t count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (count < MESSAGE_FDS_MAX)
                fds[count++] = fd;
            else
                close(fd);
        }
    }
    return count;
}

enum message_head message_look(int socket)
{
    char byte;
    struct iovec bytes = {&byte, 1};
    struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
    bool reset = false;
    ssize_t got;
    /* With no room for descriptors none is received, and MSG_CTRUNC says that there are some. An
     * error of the socket is reported once, before messages still in the queue. */
    do
        got = recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT);
    while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset && (reset = true))));
    if (got < 0)
        return MESSAGE_NONE;
    return header.msg_flags & MSG_CTRUNC ? MESSAGE_DESCRIPTORS : MESSAGE_PLAIN;
}

int message_receive_bytes(int socket, char *buffer, size_t *size, int fds[MESSAGE_FDS_MAX],
                          size_t *n_fds, struct fault *fault)
{
    union control control;
    size_t room = *size;
    struct iovec bytes = {buffer, room};
    struct msghdr header = {.msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    bool reset = false;
    ssize_t got;
    *size = *n_fds = 0;
    do /* an error of the socket is reported once, before messages still in the queue */
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset && (reset = true))));
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return fault_set(fault, FAULT_BUSY, "no message yet");
    if (got < 0 && errno != ECONNRESET)
        return fault_set(fault, FAULT_IO, "recvmsg: %s", strerror(errno));
    if (got < 0)
        return fault_set(fault, FAULT_NO_INPUT, "the other side has closed");
    *size = (size_t)got;
    *n_fds = take_rights(&header, fds);
    if (got > 0 && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 0;
    bool empty = *n_fds > 0 && got == 0; /* otherwise it is the end of file */
    while (*n_fds > 0)
        close(fds[--*n_fds]);
    if (got == 0)
        return empty ? fault_set(fault, FAULT_DATA, "an empty message")
                     : fault_set(fault, FAULT_NO_INPUT, "the other side has closed");
    if (header.msg_flags & MSG_TRUNC)
        return fault_set(fault, FAULT_DATA, "a message of more than %s", number_size(room));
    return fault_set(fault, FAULT_DATA, "a message with more than %d descriptors", MESSAGE_FDS_MAX);
}

int message_send(int socket, const struct message *message, struct fault *fault)
{
    struct text json = {0};
    int result = message_encode(message, &json, fault);
    if (result == 0)
        result = message_send_encoded(socket, &json, message->fds, message->n_fds, fault);
    text_finish(&json);
    return result;
}

int message_receive(int socket, struct message *message, struct fault *fault)
{
    char buffer[MESSAGE_BYTES_MAX];
    int fds[MESSAGE_FDS_MAX];
    size_t size = sizeof buffer, n_fds;
    message_init(message, MESSAGE_JOB);
    int result = message_receive_bytes(socket, buffer, &size, fds, &n_fds, fault);
    if (result != 0)
        return result;
    result = message_decode(message, buffer, size, fault);
    memcpy(message->fds, fds, n_fds * sizeof *fds);
    message->n_fds = n_fds;
    if (result == 0 &&
        (n_fds < kinds[message->kind].min_fds || n_fds > kinds[message->kind].max_fds))
        result = wrong(fault, message, "descriptors", "are not as many as belong to it");
    if (result != 0)
        message_finish(message);
    return result;
}
