#include "config/daemon.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 32

/* ---- settings as keys of the file ---- */

static void keep_text(struct reader *reader, struct settings *settings, const char **text)
{
    if (*text && (*text = settings_keep(settings, *text)) == NULL)
        reader->errors->failed = true;
}

/* The settings outlive the document, so texts are copied. */
static void keep_texts(struct reader *reader, struct settings *settings,
                       const struct setting *table, void *section)
{
    for (; table->param.name; table++)
        if (table->param.type == PARAM_TEXT && !table->parse)
            keep_text(reader, settings, (const char **)((char *)section + table->param.offset));
}

static struct place place_of(const yaml_node_t *node)
{
    return (struct place){node->start_mark.line + 1, node->start_mark.column + 1};
}

static size_t add_keys(struct reader_key *keys, const struct setting *table)
{
    size_t count = 0;
    for (; table->param.name; table++)
        if (!table->parse)
            keys[count++] = (struct reader_key){.name = table->param.name,
                                                .option = &table->param,
                                                .required = table->param.required};
    return count;
}

static const struct setting *find_setting(const struct setting *table, const char *name)
{
    while (table->param.name && strcmp(table->param.name, name) != 0)
        table++;
    return table;
}

static const struct setting *section_table(const char *name)
{
    const struct settings_section *section = settings_sections;
    while (strcmp(section->name, name) != 0)
        section++;
    return section->table;
}

static void parse_with(struct reader *reader, yaml_node_t *node, const struct setting *setting,
                       const char *text, void *section)
{
    struct fault fault = FAULT_INIT;
    if (text && setting->parse(text, (char *)section + setting->param.offset, &fault) != 0)
        reader_complain(reader, node, "%s", fault.text);
}

static void read_parsed(struct reader *reader, yaml_node_t *node, const char *section,
                        const char *name, void *to)
{
    parse_with(reader, node, find_setting(section_table(section), name),
               reader_scalar(reader, node, name), to);
}

static void read_fallback(struct reader *reader, yaml_node_t *node, void *to)
{
    read_parsed(reader, node, "device", "fallback", to);
}

static void read_jobs(struct reader *reader, yaml_node_t *node, void *to)
{
    read_parsed(reader, node, "limits", "jobs", to);
}

static void read_relay_jobs(struct reader *reader, yaml_node_t *node, void *to)
{
    read_parsed(reader, node, "relay", "jobs", to);
}

static void read_min_free(struct reader *reader, yaml_node_t *node, void *to)
{
    read_parsed(reader, node, "limits", "min_free", to);
}

/* Reads a list of texts, or a single text, into one text with blanks between the items. */
static void read_list(struct reader *reader, yaml_node_t *node, const char *what,
                      struct settings *settings, const char **list)
{
    struct text joined = {0};
    bool one = node->type == YAML_SCALAR_NODE;
    size_t count = one ? 1 : reader_count(reader, node, what, 0, 100);
    for (size_t i = 0; i < count; i++) {
        const char *item = reader_scalar(reader, one ? node : reader_item(reader, node, i), what);
        if (item && (!item[0] || strchr(item, ' ')))
            reader_complain(reader, node, "%s: an item is empty, or has a blank in it", what);
        else if (item)
            text_printf(&joined, "%s%s", joined.length ? " " : "", item);
    }
    *list = joined.length > 0 ? settings_keep(settings, text_string(&joined)) : NULL;
    reader->errors->failed |= joined.failed || (joined.length > 0 && !*list);
    text_finish(&joined);
}

static void read_servers(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    read_list(reader, node, "servers", settings, &settings->relay.servers);
}

static void read_get(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    read_list(reader, node, "get", settings, &settings->relay.get);
}

static void read_put(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    read_list(reader, node, "put", settings, &settings->relay.put);
}

static void read_tls(struct reader *reader, yaml_node_t *node, void *to)
{
    static const struct param ca = {
        .name = "ca", .type = PARAM_TEXT, .offset = offsetof(struct settings, relay.ca)};
    static const struct reader_key keys[] = {{.name = "ca", .option = &ca, .required = true}, {0}};
    reader_mapping(reader, node, "tls", keys, to);
    keep_text(reader, to, &((struct settings *)to)->relay.ca);
}

/* Keys whose values have no type in param.h. */
static const struct {
    const char *section;
    struct reader_key key;
} parsed_keys[] = {{"device", {.name = "fallback", .read = read_fallback}},
                   {"limits", {.name = "jobs", .read = read_jobs}},
                   {"limits", {.name = "min_free", .read = read_min_free}},
                   {"relay", {.name = "servers", .read = read_servers}},
                   {"relay", {.name = "tls", .read = read_tls}},
                   {"relay", {.name = "jobs", .read = read_relay_jobs}},
                   {"relay", {.name = "get", .read = read_get}},
                   {"relay", {.name = "put", .read = read_put}}};

static void read_section(struct reader *reader, yaml_node_t *node, const char *name, void *to)
{
    struct reader_key keys[KEYS_MAX] = {0};
    const struct setting *table = section_table(name);
    size_t count = add_keys(keys, table);
    for (size_t i = 0; i < sizeof parsed_keys / sizeof *parsed_keys; i++)
        if (strcmp(parsed_keys[i].section, name) == 0)
            keys[count++] = parsed_keys[i].key;
    reader_mapping(reader, node, name, keys, to);
    keep_texts(reader, to, table, to);
}

void config_read_device(struct reader *reader, yaml_node_t *node, void *to)
{
    read_section(reader, node, "device", to);
}

void config_read_log(struct reader *reader, yaml_node_t *node, void *to)
{
    read_section(reader, node, "log", to);
}

void config_read_state(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    settings->state = reader_scalar(reader, node, "state");
    keep_text(reader, settings, &settings->state);
}

void config_read_limits(struct reader *reader, yaml_node_t *node, void *to)
{
    read_section(reader, node, "limits", to);
}

/* ---- listen ---- */

static const struct param socket_params[] = {
    PARAM(TEXT, "unix", offsetof(struct socket_settings, unix_path), "path of the socket"),
    {.name = "mode", .type = PARAM_TEXT, .offset = offsetof(struct socket_settings, mode)},
    {.name = "group", .type = PARAM_TEXT, .offset = offsetof(struct socket_settings, group)},
    {0},
};

static const struct reader_key socket_keys[] = {
    {.name = "unix", .option = &socket_params[0], .required = true},
    {.name = "mode", .option = &socket_params[1]},
    {.name = "group", .option = &socket_params[2]},
    {0},
};

static bool is_mode(const char *text)
{
    size_t length = strlen(text);
    return (length == 3 || (length == 4 && text[0] == '0')) && strspn(text, "01234567") == length;
}

static void read_socket(struct reader *reader, yaml_node_t *node, const char *what,
                        struct settings *settings, struct socket_settings *to)
{
    reader_mapping(reader, node, what, socket_keys, to);
    const yaml_node_t *path = reader_value(reader, node, "unix");
    const yaml_node_t *mode = reader_value(reader, node, "mode");
    if (to->unix_path && to->unix_path[0] != '/')
        reader_complain(reader, path, "%s: unix: '%.80s' is no absolute path", what, to->unix_path);
    if (to->unix_path && strlen(to->unix_path) > 107)
        reader_complain(reader, path, "%s: unix: a socket's path has at most 107 bytes", what);
    if (to->mode && !is_mode(to->mode))
        reader_complain(reader, mode, "%s: mode: '%.20s': expected octal digits such as \"0660\"",
                        what, to->mode);
    keep_text(reader, settings, &to->unix_path);
    keep_text(reader, settings, &to->mode);
    keep_text(reader, settings, &to->group);
}

static void read_http(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    read_socket(reader, node, "http", settings, &settings->http);
}

static void read_jobs_socket(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    read_socket(reader, node, "jobs", settings, &settings->jobs_socket);
}

static const struct reader_key listen_keys[] = {
    {.name = "http", .read = read_http},
    {.name = "jobs", .read = read_jobs_socket},
    {0},
};

void config_read_listen(struct reader *reader, yaml_node_t *node, void *to)
{
    reader_mapping(reader, node, "listen", listen_keys, to);
}

/* ---- watch ---- */

/* Passed to a watch's own functions: the first member has both addresses. */
struct watch_target {
    struct watch_settings watch; /* must be first: offsets of the table count from here */
    struct settings *settings;
};

static const struct reader_key retention_keys[] = {
    {.name = "keep", .option = &settings_retention[0]},
    {.name = "age", .option = &settings_retention[1]},
    {0},
};

static void read_done(struct reader *reader, yaml_node_t *node, void *to)
{
    reader_mapping(reader, node, "done", retention_keys, &((struct watch_target *)to)->watch.done);
}

static void read_failed(struct reader *reader, yaml_node_t *node, void *to)
{
    reader_mapping(reader, node, "failed", retention_keys,
                   &((struct watch_target *)to)->watch.failed);
}

static void read_name(struct reader *reader, yaml_node_t *node, void *to)
{
    struct watch_target *target = to;
    const char *text = reader_scalar(reader, node, "name");
    keep_text(reader, target->settings, &text);
    parse_with(reader, node, find_setting(settings_watch.table, "name"), text, &target->watch);
}

/* The list replaces the default patterns. Hidden names are never taken in any case. */
static void read_ignore(struct reader *reader, yaml_node_t *node, void *to)
{
    struct watch_target *target = to;
    size_t count = reader_count(reader, node, "ignore", 0, 1000);
    const char **list = calloc(count + 1, sizeof *list);
    if (!list) {
        reader->errors->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = reader_scalar(reader, reader_item(reader, node, i), "ignore");
        keep_text(reader, target->settings, &list[i]);
        if (!list[i])
            break;
    }
    free(target->watch.ignore);
    target->watch.ignore = list;
}

/* Keys whose settings parse a text in the environment and on the command line. */
static const struct reader_key own_keys[] = {
    {.name = "name", .read = read_name},
    {.name = "done", .read = read_done},
    {.name = "failed", .read = read_failed},
    {.name = "ignore", .read = read_ignore},
    {0},
};

/* Notes where values stand in the file: whether a chain or a folder is right can be told only
 * later, and the message needs the place. */
static void note_places(struct reader *reader, const yaml_node_t *node,
                        struct watch_settings *watch)
{
    watch->at = place_of(node);
    for (const struct setting *s = settings_watch.table; s->param.name; s++) {
        const yaml_node_t *value = s->place ? reader_value(reader, node, s->param.name) : NULL;
        if (value)
            *(struct place *)((char *)watch + s->place) = place_of(value);
    }
}

/* An entry with mistakes is kept, so that the rest of it can be checked. */
static void read_entry(struct reader *reader, yaml_node_t *node, struct settings *settings)
{
    struct reader_key keys[KEYS_MAX] = {0};
    struct watch_settings *watch = settings_add_watch(settings);
    if (!watch) {
        reader->errors->failed = true;
        return;
    }
    struct watch_target target = {.watch = *watch, .settings = settings};
    size_t count = add_keys(keys, settings_watch.table);
    memcpy(keys + count, own_keys, sizeof own_keys);
    reader_mapping(reader, node, "watch", keys, &target);
    keep_texts(reader, settings, settings_watch.table, &target.watch);
    note_places(reader, node, &target.watch);
    *watch = target.watch;
}

void config_read_watch(struct reader *reader, yaml_node_t *node, void *to)
{
    size_t count = reader_count(reader, node, "watch", 0, 1000);
    for (size_t i = 0; i < count; i++)
        read_entry(reader, reader_item(reader, node, i), to);
}

/* ---- relay ---- */

void config_read_relay(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    struct fault fault = FAULT_INIT;
    const char *key;
    size_t at = 0;
    read_section(reader, node, "relay", settings);
    while (settings_check_relay(&settings->relay, &at, &key, &fault) != 0) {
        reader_complain(reader, reader_value(reader, node, key), "%s", fault.text);
        fault_clear(&fault);
    }
}
