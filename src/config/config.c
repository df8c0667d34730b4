#include "config/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "config/reader.h"
#include "config/settings.h"

#define FILE_MAX (16u << 20)
#define KEYS_MAX 32

/* ---- definitions and chains ---- */

static void read_version(struct reader *reader, yaml_node_t *node, void *to)
{
    const char *text = reader_scalar(reader, node, "version");
    (void)to;
    if (text && strcmp(text, "1") != 0)
        reader_complain(reader, node, "version: '%.60s': expected 1", text);
}

static void read_kernels(struct reader *reader, yaml_node_t *node, void *to)
{
    config_read_kernels(reader, node, &((struct config *)to)->definitions);
}

static void read_banks(struct reader *reader, yaml_node_t *node, void *to)
{
    config_read_banks(reader, node, &((struct config *)to)->definitions);
}

/* Names are in the build's list; this module knows no more about stages. */
static bool is_stage(const char *name)
{
    size_t length = strlen(name);
    for (const char *stage = STAGE_NAMES; *stage; stage += strspn(stage, " ")) {
        size_t one = strcspn(stage, " ");
        if (one == length && memcmp(stage, name, one) == 0)
            return true;
        stage += one;
    }
    return false;
}

static void read_chain(struct reader *reader, const char *name, yaml_node_t *node, void *to)
{
    struct config *config = to;
    const char *text = reader_scalar(reader, node, "chains");
    if (!text)
        return;
    if (is_stage(name))
        reader_complain(reader, node,
                        "chains: '%s' is the name of a stage, so 'chain: %s' could mean either: "
                        "give the chain another name",
                        name, name);
    struct config_chain *chains =
        realloc(config->chains, (config->n_chains + 1) * sizeof *config->chains);
    char *copy = strdup(text);
    if (chains)
        config->chains = chains;
    if (!chains || !copy) {
        free(copy);
        reader->errors->failed = true;
        return;
    }
    struct config_chain *chain = &chains[config->n_chains++];
    *chain = (struct config_chain){
        .text = copy, .place = {node->start_mark.line + 1, node->start_mark.column + 1}};
    snprintf(chain->name, sizeof chain->name, "%s", name);
}

static void read_chains(struct reader *reader, yaml_node_t *node, void *to)
{
    reader_names(reader, node, "chains", read_chain, to);
}

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

static void config_read_device(struct reader *reader, yaml_node_t *node, void *to)
{
    read_section(reader, node, "device", to);
}

static void config_read_log(struct reader *reader, yaml_node_t *node, void *to)
{
    read_section(reader, node, "log", to);
}

static void config_read_state(struct reader *reader, yaml_node_t *node, void *to)
{
    struct settings *settings = to;
    settings->state = reader_scalar(reader, node, "state");
    keep_text(reader, settings, &settings->state);
}

static void config_read_limits(struct reader *reader, yaml_node_t *node, void *to)
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

static void config_read_listen(struct reader *reader, yaml_node_t *node, void *to)
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

static void config_read_watch(struct reader *reader, yaml_node_t *node, void *to)
{
    size_t count = reader_count(reader, node, "watch", 0, 1000);
    for (size_t i = 0; i < count; i++)
        read_entry(reader, reader_item(reader, node, i), to);
}

/* ---- relay ---- */

static void config_read_relay(struct reader *reader, yaml_node_t *node, void *to)
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

/* ---- the whole file ---- */

/* For sections that are read into the settings. */
#define READ_SETTINGS(name)                                                                        \
    static void read_##name(struct reader *reader, yaml_node_t *node, void *to)                    \
    {                                                                                              \
        config_read_##name(reader, node, &((struct config *)to)->settings);                        \
    }
READ_SETTINGS(device)
READ_SETTINGS(limits)
READ_SETTINGS(listen)
READ_SETTINGS(log)
READ_SETTINGS(relay)
READ_SETTINGS(state)
READ_SETTINGS(watch)

/* The sections of the file. */
static const struct reader_key sections[] = {
    {.name = "version", .read = read_version},
    {.name = "kernels", .read = read_kernels},
    {.name = "banks", .read = read_banks},
    {.name = "chains", .read = read_chains},
    {.name = "device", .read = read_device},
    {.name = "limits", .read = read_limits},
    {.name = "listen", .read = read_listen},
    {.name = "watch", .read = read_watch},
    {.name = "log", .read = read_log},
    {.name = "relay", .read = read_relay},
    {.name = "state", .read = read_state},
    {0},
};

void config_finish(struct config *config)
{
    definitions_finish(&config->definitions);
    settings_finish(&config->settings);
    free(config->source);
    for (size_t i = 0; i < config->n_chains; i++)
        free(config->chains[i].text);
    free(config->chains);
    *config = (struct config){0};
}

const char *config_chain(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->n_chains; i++)
        if (strcmp(config->chains[i].name, name) == 0)
            return config->chains[i].text;
    return NULL;
}

const char *config_guess_chain(const struct config *config, const char *text)
{
    struct nearest nearest = {0};
    size_t length = strlen(text);
    if (length == 0 || text[strcspn(text, ",:=@/")] != '\0' || is_stage(text))
        return NULL;
    for (size_t i = 0; i < config->n_chains; i++)
        nearest_offer(&nearest, text, length, config->chains[i].name);
    return nearest.best;
}

void config_resolve_chains(struct config *config)
{
    for (size_t i = 0; i < config->settings.n_watches; i++) {
        struct watch_settings *watch = &config->settings.watches[i];
        const char *text = watch->chain ? config_chain(config, watch->chain) : NULL;
        if (text) {
            watch->chain_name = watch->chain;
            watch->chain = text;
        }
    }
}

static int read_text(struct config *config, const char *name, const char *text, size_t length,
                     struct text *errors, struct fault *fault)
{
    struct reader reader;
    int result = 0;
    *config = (struct config){0};
    settings_defaults(&config->settings);
    config->settings.file = settings_keep(&config->settings, name);
    config->source = malloc(length + 1);
    config->source_length = length;
    if (config->source)
        memcpy(config->source, text, length);
    else
        errors->failed = true;
    if (reader_begin(&reader, name, text, length, errors)) {
        yaml_node_t *root = reader_root(&reader);
        if (root)
            reader_mapping(&reader, root, "the configuration", sections, config);
    }
    if (errors->failed || !config->settings.file)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    else if (reader.n_errors > 0)
        result = fault_set(fault, FAULT_CONFIG, "%.*s", (int)strcspn(text_string(errors), "\n"),
                           text_string(errors));
    reader_finish(&reader);
    return result;
}

int config_read_text(struct config *config, const char *name, const char *text, size_t length,
                     struct text *errors, struct fault *fault)
{
    int result = read_text(config, name, text, length, errors, fault);
    if (result != 0)
        config_finish(config);
    return result;
}

int config_read_partly(struct config *config, const char *path, struct text *errors,
                       struct fault *fault)
{
    struct bytes bytes = {0};
    *config = (struct config){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set_errno(fault, FAULT_NO_INPUT, NULL);
    int result = file_read(fd, FILE_MAX, &bytes, fault);
    close(fd);
    if (result == 0)
        result = read_text(config, path, (const char *)bytes.data, bytes.size, errors, fault);
    bytes_finish(&bytes);
    return result;
}

int config_read(struct config *config, const char *path, struct text *errors, struct fault *fault)
{
    int result = config_read_partly(config, path, errors, fault);
    if (result != 0)
        config_finish(config);
    return result;
}
