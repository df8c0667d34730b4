#include "config/config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "config/banks.h"
#include "config/daemon.h"
#include "config/reader.h"

#define FILE_MAX (16u << 20)

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
