#include "config/config.h"

#include <fcntl.h>
#include <inttypes.h>
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

static struct place place_of(const yaml_node_t *node)
{
    return (struct place){node->start_mark.line + 1, node->start_mark.column + 1};
}

static void read_version(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    const char *text = reader_scalar(reader, node, key->name);
    if (text && strcmp(text, "1") != 0)
        reader_complain(reader, node, "version: '%.60s': expected 1", text);
}

/* ---- chains ---- */

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
    if (strchr(text, ';'))
        reader_complain(reader, node,
                        "chains: '%s' has chains of several results (;): give each "
                        "a name of its own",
                        name);
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
    *chain = (struct config_chain){.text = copy, .place = place_of(node)};
    snprintf(chain->name, sizeof chain->name, "%s", name);
}

static void read_chains(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to)
{
    reader_names(reader, node, key->name, read_chain, to);
}

/* ---- settings as keys of the file ---- */

static void read_text(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                      void *to)
{
    *(const char **)to = reader_keep(reader, reader_scalar(reader, node, key->name));
}

/* For settings whose values have no type in param.h. */
static void read_parsed(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to)
{
    const struct setting *setting = (const struct setting *)key->option;
    struct fault fault = FAULT_INIT;
    const char *text = reader_keep(reader, reader_scalar(reader, node, key->name));
    if (text && setting->parse(text, to, &fault) != 0)
        reader_complain(reader, node, "%s: %s", key->name, fault.text);
}

/* Reads a list of texts, or a single text, into one text with blanks between the items. */
static void read_list(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                      void *to)
{
    struct text joined = {0};
    bool one = node->type == YAML_SCALAR_NODE;
    size_t count = one ? 1 : reader_count(reader, node, key->name, 0, 100);
    for (size_t i = 0; i < count; i++) {
        const char *item =
            reader_scalar(reader, one ? node : reader_item(reader, node, i), key->name);
        if (item && (!item[0] || strchr(item, ' ')))
            reader_complain(reader, node, "%s: an item is empty, or has a blank in it", key->name);
        else if (item)
            text_printf(&joined, "%s%s", joined.length ? " " : "", item);
    }
    *(const char **)to = joined.length > 0 ? reader_keep(reader, joined.data) : NULL;
    reader->errors->failed |= joined.failed;
    text_finish(&joined);
}

static void read_tls(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                     void *to)
{
    static const struct reader_key keys[] = {{.name = "ca", .read = read_text, .required = true},
                                             {0}};
    reader_mapping(reader, node, key->name, keys, to);
}

static void read_retention(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                           void *to)
{
    static const struct reader_key keys[] = {{.name = "keep", .option = &settings_retention[0]},
                                             {.name = "age", .option = &settings_retention[1]},
                                             {0}};
    reader_mapping(reader, node, key->name, keys, to);
}

/* The list replaces the default patterns. Hidden names are never taken in any case. */
static void read_ignore(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to)
{
    size_t count = reader_count(reader, node, key->name, 0, 1000);
    const char **list = calloc(count + 1, sizeof *list), ***ignore = to;
    if (!list) {
        reader->errors->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item = reader_item(reader, node, i);
        list[i] = reader_keep(reader, reader_scalar(reader, item, key->name));
        if (!list[i])
            break;
    }
    free(*ignore);
    *ignore = list;
}

/* How the file has settings that the environment has as one text; others are read by `parse`. */
static reader_function *find_function(const struct setting *setting)
{
    static const struct {
        const char *name;
        reader_function *read;
    } own[] = {{"servers", read_list}, {"get", read_list},       {"put", read_list},
               {"tls", read_tls},      {"done", read_retention}, {"failed", read_retention},
               {"ignore", read_ignore}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, setting->param.name) == 0)
            return own[i].read;
    return read_parsed;
}

/* Makes the keys of a table of settings; those of param.h's types come first, also in messages.
 * `only`: of these names, with blanks between them; NULL: all. Returns the place behind them. */
static struct reader_key *make_keys(const struct setting *table, const char *only,
                                    struct reader_key *key)
{
    for (int parsed = 0; parsed < 2; parsed++) {
        for (const struct setting *s = table; s->param.name; s++) {
            if ((s->parse != NULL) != parsed || (only && !strstr(only, s->param.name)))
                continue;
            *key = (struct reader_key){
                .name = s->param.name, .option = &s->param, .required = s->param.required && !only};
            if (parsed) {
                key->read = find_function(s);
                key->offset = s->param.offset;
            }
            key++;
        }
    }
    return key;
}

static void read_settings(struct reader *reader, const char *what, yaml_node_t *node,
                          const struct setting *table, void *to)
{
    struct reader_key keys[KEYS_MAX] = {0};
    make_keys(table, NULL, keys);
    reader_mapping(reader, node, what, keys, to);
}

static void read_section(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    const struct settings_section *section = settings_sections;
    while (strcmp(section->name, key->name) != 0)
        section++;
    read_settings(reader, key->name, node, section->table, (char *)to + section->offset);
}

static void read_relay(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                       void *to)
{
    struct settings *settings = to;
    struct fault fault = FAULT_INIT;
    const char *wrong;
    size_t at = 0;
    read_section(reader, key, node, to);
    while (relay_settings_check(&settings->relay, &at, &wrong, &fault) != 0) {
        reader_complain(reader, reader_value(reader, node, wrong), "%s", fault.text);
        fault_clear(&fault);
    }
}

/* ---- listen ---- */

static void read_socket(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to_)
{
    static const struct reader_key keys[] = {
        {.name = "unix",
         .read = read_text,
         .offset = offsetof(struct socket_settings, unix_path),
         .required = true},
        {.name = "mode", .read = read_text, .offset = offsetof(struct socket_settings, mode)},
        {.name = "group", .read = read_text, .offset = offsetof(struct socket_settings, group)},
        {.name = "chains", .read = read_text, .offset = offsetof(struct socket_settings, chains)},
        {0}};
    const struct socket_settings *to = to_;
    reader_mapping(reader, node, key->name, keys, to_);
    const yaml_node_t *path = reader_value(reader, node, "unix");
    const yaml_node_t *mode = reader_value(reader, node, "mode");
    struct fault fault = FAULT_INIT;
    if (to->unix_path && settings_check_socket(to->unix_path, &fault) != 0)
        reader_complain(reader, path, "%s: unix: %s", key->name, fault.text);
    else if (to->unix_path && to->unix_path[0] != '/')
        reader_complain(reader, path, "%s: unix: '%.80s' is no absolute path", key->name,
                        to->unix_path);
    if (to->unix_path && strlen(to->unix_path) > 107)
        reader_complain(reader, path, "%s: unix: a socket's path has at most 107 bytes", key->name);
    if (to->chains && strcmp(to->chains, "any") != 0 && strcmp(to->chains, "configured") != 0)
        reader_complain(reader, reader_value(reader, node, "chains"),
                        "%s: chains: '%.20s': expected any or configured", key->name, to->chains);
    size_t digits = to->mode ? strspn(to->mode, "01234567") : 0;
    if (to->mode && (to->mode[digits] || (digits != 3 && !(digits == 4 && to->mode[0] == '0'))))
        reader_complain(reader, mode, "%s: mode: '%.20s': expected octal digits such as \"0660\"",
                        key->name, to->mode);
}

static void read_listen(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to)
{
    static const struct reader_key keys[] = {
        {.name = "http", .read = read_socket, .offset = offsetof(struct settings, http)},
        {.name = "jobs", .read = read_socket, .offset = offsetof(struct settings, jobs_socket)},
        {0}};
    reader_mapping(reader, node, key->name, keys, to);
}

/* ---- watch ---- */

/* Read by itself, when the rest of the entry has been. */
static void leave_alone(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                        void *to)
{
}

/* What one result of a folder may say for itself. */
#define OF_ONE "chain format name folder"

static struct place place_of_value(struct reader *reader, const yaml_node_t *mapping,
                                   const char *key)
{
    const yaml_node_t *value = reader_value(reader, mapping, key);
    return value ? place_of(value) : (struct place){0};
}

/* Reads the list of results into the folder's texts, in which they stand with ; between them. What
 * one leaves out is as the folder has it. */
static void read_outputs(struct reader *reader, yaml_node_t *node, struct watch_settings *watch)
{
    static const char what[] = "outputs";
    static const size_t members[] = {
        offsetof(struct watch_settings, chain), offsetof(struct watch_settings, format),
        offsetof(struct watch_settings, name), offsetof(struct watch_settings, folder)};
    static const char *const names[] = {"chain", "format", "name", "folder"};
    enum {
        MEMBERS = sizeof members / sizeof *members
    };
    struct reader_key keys[KEYS_MAX] = {0};
    struct text texts[MEMBERS] = {0};
    size_t count = reader_count(reader, node, what, 1, WATCH_RESULTS_MAX);
    make_keys(settings_watch.table, OF_ONE, keys);
    watch->outputs = calloc(count + 1, sizeof *watch->outputs);
    reader->errors->failed |= !watch->outputs;
    for (size_t i = 0; i < count && watch->outputs; i++) {
        yaml_node_t *entry = reader_item(reader, node, i);
        struct watch_settings one = {0};
        reader_mapping(reader, entry, what, keys, &one);
        for (size_t m = 0; m < MEMBERS; m++) {
            const char *own = *(const char **)((char *)&one + members[m]);
            const char *common = *(const char **)((char *)watch + members[m]);
            if (own && strchr(own, ';')) {
                reader_complain(reader, reader_value(reader, entry, names[m]),
                                "%s: %s: '%.60s' has a ;: one entry is one result", what, names[m],
                                own);
                own = "";
            }
            if (m == 0 && !own && !common)
                reader_complain(reader, entry, "%s: chain is missing", what);
            text_printf(&texts[m], "%s%s", i ? ";" : "", own ? own : common ? common : "");
        }
        watch->outputs[i] =
            (struct watch_output){.at = place_of(entry),
                                  .chain_at = place_of_value(reader, entry, "chain"),
                                  .format_at = place_of_value(reader, entry, "format")};
        watch->n_outputs++;
    }
    for (size_t m = 0; m < MEMBERS; m++) {
        const char **member = (const char **)((char *)watch + members[m]);
        const char *text = text_string(&texts[m]);
        bool is_said = members[m] != offsetof(struct watch_settings, folder) ||
                       text[strspn(text, ";")] != '\0';
        if (watch->n_outputs > 0 && !texts[m].failed && is_said)
            *member = reader_keep(reader, text);
        text_finish(&texts[m]);
    }
}

/* An entry with mistakes is kept, so that the rest of it can be checked. Places are kept, too:
 * whether a chain or a folder is right can be told only later, and the message needs the place. */
static void read_watch(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                       void *to)
{
    size_t count = reader_count(reader, node, key->name, 0, 1000);
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *entry = reader_item(reader, node, i);
        struct watch_settings *watch = settings_add_watch(to);
        if (!watch) {
            reader->errors->failed = true;
            return;
        }
        yaml_node_t *list = (yaml_node_t *)(uintptr_t)reader_value(reader, entry, "outputs");
        struct reader_key keys[KEYS_MAX] = {0};
        *make_keys(settings_watch.table, NULL, keys) =
            (struct reader_key){.name = "outputs", .read = leave_alone};
        for (struct reader_key *k = keys; k->name && list; k++) /* each result has its own */
            k->required &= strcmp(k->name, "chain") != 0;
        reader_mapping(reader, entry, key->name, keys, watch);
        if (list)
            read_outputs(reader, list, watch);
        watch->at = place_of(entry);
        for (const struct setting *s = settings_watch.table; s->param.name; s++) {
            const yaml_node_t *value = s->place ? reader_value(reader, entry, s->param.name) : NULL;
            if (value)
                *(struct place *)((char *)watch + s->place) = place_of(value);
        }
        struct fault fault = FAULT_INIT;
        size_t wrong;
        if (watch->chain && watch_check_results(watch, &wrong, &fault) != 0) {
            const yaml_node_t *at =
                list && wrong < watch->n_outputs ? reader_item(reader, list, wrong) : entry;
            reader_complain(reader, at, "%s: %s", key->name, fault.text);
        }
    }
}

/* ---- the whole file ---- */

#define SETTINGS offsetof(struct config, settings)

static const struct reader_key sections[] = {
    {.name = "version", .read = read_version},
    {.name = "kernels",
     .read = config_read_kernels,
     .offset = offsetof(struct config, definitions)},
    {.name = "banks", .read = config_read_banks, .offset = offsetof(struct config, definitions)},
    {.name = "cameras",
     .read = config_read_cameras,
     .offset = offsetof(struct config, definitions)},
    {.name = "pictures",
     .read = config_read_pictures,
     .offset = offsetof(struct config, definitions)},
    {.name = "chains", .read = read_chains},
    {.name = "device", .read = read_section, .offset = SETTINGS},
    {.name = "limits", .read = read_section, .offset = SETTINGS},
    {.name = "listen", .read = read_listen, .offset = SETTINGS},
    {.name = "watch", .read = read_watch, .offset = SETTINGS},
    {.name = "log", .read = read_section, .offset = SETTINGS},
    {.name = "relay", .read = read_relay, .offset = SETTINGS},
    {.name = "state", .read = read_text, .offset = offsetof(struct config, settings.state)},
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

const char *config_name_of_chain(const struct config *config, const char *text)
{
    const struct settings *settings = &config->settings;
    for (size_t i = 0; i < config->n_chains; i++)
        if (strcmp(config->chains[i].text, text) == 0)
            return config->chains[i].name;
    for (size_t i = 0; i < settings->n_watches; i++)
        if (!settings->watches[i].chain_name && strcmp(settings->watches[i].chain, text) == 0)
            return settings->watches[i].chain;
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
        struct text chains = {0};
        bool named = false;
        char part[PARAM_WORD_MAX];
        size_t length;
        for (size_t r = 0; watch->chain && r < watch_count_results(watch); r++) {
            const char *at = text_find_part(watch->chain, r, &length);
            const char *text =
                length < sizeof part
                    ? config_chain(config, watch_part(watch->chain, r, part, sizeof part))
                    : NULL;
            text_append(&chains, r ? ";" : "");
            if (text)
                text_append(&chains, text);
            else
                text_append_bytes(&chains, at, length);
            named |= text != NULL;
        }
        const char *kept =
            named && !chains.failed ? settings_keep(&config->settings, text_string(&chains)) : NULL;
        text_finish(&chains);
        if (kept) { /* without memory the names are taken for chains, and refused */
            watch->chain_name = watch->chain;
            watch->chain = kept;
        }
    }
}

/* `known`, which the config takes over: definitions that need not be read again. */
static int read_file(struct config *config, const char *name, const char *text, size_t length,
                     struct definitions *known, bool without_files, struct text *errors,
                     struct fault *fault)
{
    struct reader reader;
    int result = 0;
    *config = (struct config){.definitions = *known};
    *known = (struct definitions){0};
    settings_defaults(&config->settings);
    config->settings.file = settings_keep(&config->settings, name);
    config->source = malloc(length + 1);
    config->source_length = length;
    if (config->source)
        memcpy(config->source, text, length);
    else
        errors->failed = true;
    if (reader_begin(&reader, name, text, length, &config->settings, errors)) {
        reader.without_files = without_files;
        yaml_node_t *root = yaml_document_get_root_node(&reader.document);
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
    int result =
        read_file(config, name, text, length, &(struct definitions){0}, false, errors, fault);
    if (result != 0)
        config_finish(config);
    return result;
}

static int open_file(struct config *config, const char *path, bool without_files,
                     struct text *errors, struct fault *fault)
{
    struct bytes bytes = {0};
    *config = (struct config){0};
    settings_defaults(&config->settings);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fault_set_errno(fault, FAULT_NO_INPUT, NULL);
    int result = file_read(fd, FILE_MAX, &bytes, fault);
    close(fd);
    if (result == 0)
        result = read_file(config, path, (const char *)bytes.data, bytes.size,
                           &(struct definitions){0}, without_files, errors, fault);
    bytes_finish(&bytes);
    return result;
}

int config_read_partly(struct config *config, const char *path, struct text *errors,
                       struct fault *fault)
{
    return open_file(config, path, false, errors, fault);
}

int config_read(struct config *config, const char *path, struct text *errors, struct fault *fault)
{
    int result = open_file(config, path, false, errors, fault);
    if (result != 0)
        config_finish(config);
    return result;
}

int config_read_settings(struct config *config, const char *path, struct text *errors,
                         struct fault *fault)
{
    int result = open_file(config, path, true, errors, fault);
    if (result != 0)
        config_finish(config);
    return result;
}

/* ---- what a worker is given: SECTION.KEY=VALUE and a NUL for each setting, a NUL, the file ----
 */

void config_print_worker(const struct config *config, struct text *text)
{
    for (const struct settings_section *section = settings_sections; section->name; section++) {
        for (const struct setting *s = section->table; s->param.name; s++) {
            const char *in = (const char *)&config->settings + section->offset;
            const void *at = in + s->param.offset;
            if (!s->of_worker)
                continue;
            enum param_type type = s->param.type;
            text_printf(text, "%s.%s=", section->name, s->param.name);
            if (type == PARAM_TEXT && !*(const char *const *)at)
                text_append(text, "none");
            else if (type == PARAM_SIZE || type == PARAM_DURATION || type == PARAM_PIXELS)
                text_printf(text, "%" PRIu64 "%s",
                            *(const uint64_t *)at, /* for people it is rounded */
                            type == PARAM_SIZE       ? "B"
                            : type == PARAM_DURATION ? "ns"
                                                     : "P");
            else
                param_print_value(&s->param, in, text);
            text_append_bytes(text, "", 1);
        }
    }
    for (size_t i = 0; i < config->definitions.n_cameras; i++) {
        config_print_camera(&config->definitions.cameras[i], text);
        text_append_bytes(text, "", 1);
    }
    for (size_t i = 0; i < config->definitions.n_pictures; i++) {
        config_print_picture(config->definitions.pictures[i], text);
        text_append_bytes(text, "", 1);
    }
    text_append_bytes(text, "", 1);
    if (config->definitions.n_banks + config->definitions.n_kernels > 0)
        text_append_bytes(text, config->source, config->source_length);
}

#define CAMERAS  "cameras."
#define PICTURES "pictures."

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Reads a line that is a definition; others are left. */
static int take_definition(struct definitions *known, const char *line, struct fault *fault)
{
    struct definition_camera camera;
    if (begins(line, PICTURES))
        return config_scan_picture(line, known, fault);
    if (begins(line, CAMERAS) && config_scan_camera(line + strlen(CAMERAS), &camera) &&
        !definitions_add_camera(known, &camera))
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    return 0;
}

static int set_one(struct settings *settings, const char *line, struct fault *fault)
{
    size_t head = strcspn(line, "=");
    for (const struct settings_section *section = settings_sections; section->name; section++) {
        size_t length = strlen(section->name);
        if (length >= head || memcmp(section->name, line, length) != 0 || line[length] != '.')
            continue;
        for (const struct setting *s = section->table; s->param.name; s++) {
            if (!s->of_worker || strlen(s->param.name) != head - length - 1 ||
                memcmp(s->param.name, line + length + 1, head - length - 1) != 0 || !line[head])
                continue;
            const char *value = settings_keep(settings, line + head + 1);
            return value ? setting_set(s, (char *)settings + section->offset, value, false,
                                       section->name, fault)
                         : fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
        }
    }
    return fault_set(fault, FAULT_DATA, "'%.60s' is no setting of a worker", line);
}

int config_read_worker(struct config *config, const char *text, size_t length, struct fault *fault)
{
    const char *end = memmem(text, length, "\0", 2), *file = end ? end + 2 : NULL;
    struct text errors = {0};
    int result = 0;
    *config = (struct config){0};
    if (!end)
        return fault_set(fault, FAULT_DATA, "a configuration without an end of its settings");
    struct definitions known = {0};
    for (const char *line = text; line < end && result == 0; line += strlen(line) + 1)
        result = take_definition(&known, line, fault);
    if (result == 0 && file < text + length) {
        result = read_file(config, "configuration", file, (size_t)(text + length - file), &known, false,
                           &errors, fault);
    } else {
        settings_defaults(&config->settings);
        config->definitions = known;
    }
    for (const char *line = text; line < end && result == 0; line += strlen(line) + 1)
        if (!begins(line, CAMERAS) && !begins(line, PICTURES))
            result = set_one(&config->settings, line, fault);
    text_finish(&errors);
    if (result != 0)
        config_finish(config);
    return result;
}
