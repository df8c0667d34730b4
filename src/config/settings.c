#include "config/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"

extern char **environ;

struct settings_text {
    struct settings_text *next;
    char text[];
};

const char *settings_keep(struct settings *settings, const char *text)
{
    size_t size = strlen(text) + 1;
    struct settings_text *kept = malloc(sizeof *kept + size);
    if (!kept)
        return NULL;
    memcpy(kept->text, text, size);
    kept->next = settings->texts;
    settings->texts = kept;
    return kept->text;
}

/* ---- setting values ---- */

int setting_set(const struct setting *setting, void *to, const char *text, bool bare_allowed,
                const char *what, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    if (!setting->parse)
        return param_set(&setting->param, to, text, strlen(text), bare_allowed, what, fault);
    if (setting->parse(text, (char *)to + setting->param.offset, &why) == 0)
        return 0;
    return fault_set(fault, why.code, "%s: %s: %s", what, setting->param.name, why.text);
}

int setting_parse_count(const char *text, int64_t *jobs, int limit, struct fault *fault)
{
    *jobs = 0;
    if (strcmp(text, "auto") == 0)
        return 0;
    if (number_parse_integer(text, strlen(text), jobs) && *jobs >= 0 && *jobs <= limit)
        return 0;
    return fault_set(fault, FAULT_CONFIG, "expected an integer from 0 to %d, or auto, not '%.60s'",
                     limit, text);
}

static void set_defaults(const struct setting *table, void *to)
{
    for (; table->param.name; table++)
        if (table->param.fallback)
            setting_set(table, to, table->param.fallback, false, "default", NULL);
}

void settings_defaults(struct settings *settings)
{
    *settings = (struct settings){0};
    for (const struct settings_section *s = settings_sections; s->name; s++)
        set_defaults(s->table, (char *)settings + s->offset);
}

void watch_defaults(struct watch_settings *watch)
{
    *watch = (struct watch_settings){.done = {RETENTION_ALL, RETENTION_ALL},
                                     .failed = {RETENTION_ALL, RETENTION_ALL}};
    set_defaults(settings_watch.table, watch);
}

static void clear_watches(struct settings *settings)
{
    for (size_t i = 0; i < settings->n_watches; i++) {
        free(settings->watches[i].ignore);
        free(settings->watches[i].outputs);
    }
    free(settings->watches);
    settings->watches = NULL;
    settings->n_watches = 0;
}

void settings_finish(struct settings *settings)
{
    clear_watches(settings);
    while (settings->texts) {
        struct settings_text *text = settings->texts;
        settings->texts = text->next;
        free(text);
    }
    *settings = (struct settings){0};
}

struct watch_settings *settings_add_watch(struct settings *settings)
{
    struct watch_settings *watches =
        realloc(settings->watches, (settings->n_watches + 1) * sizeof *watches);
    if (!watches)
        return NULL;
    settings->watches = watches;
    struct watch_settings *watch = &watches[settings->n_watches];
    watch_defaults(watch);
    if (!watch->ignore)
        return NULL;
    settings->n_watches++;
    return watch;
}

/* Without memory the path stays as it is. */
static void make_absolute(struct settings *settings, const char **path)
{
    char *absolute = *path ? path_absolute(*path) : NULL;
    const char *kept = absolute ? settings_keep(settings, absolute) : NULL;
    if (kept)
        *path = kept;
    free(absolute);
}

void settings_complete(struct settings *settings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    settings->jobs = (unsigned)settings->jobs_wanted;
    if (settings->jobs == 0)
        settings->jobs = processors > 0 ? (unsigned)processors : 1;
    relay_settings_complete(&settings->relay, settings->jobs);
    for (size_t i = 0; i < settings->n_watches; i++) {
        struct watch_settings *watch = &settings->watches[i];
        make_absolute(settings, &watch->input);
        make_absolute(settings, &watch->output);
        watch->min_free = settings->min_free;
        if (watch->claim == CLAIM_NONE)
            watch->originals = ORIGINALS_KEEP;
        if (watch->sync == SYNC_BATCH) {
            log_warning("%s: sync: batch is each now, which syncs together what ends together; "
                        "write each",
                        watch->input);
            watch->sync = SYNC_EACH;
        }
    }
}

/* ---- several results of a picture ---- */

size_t watch_count_results(const struct watch_settings *watch)
{
    return text_count_parts(watch->chain ? watch->chain : "");
}

const char *watch_part(const char *text, size_t result, char *part, size_t size)
{
    size_t length;
    const char *at = text_find_part(text ? text : "", result, &length);
    if (!at) /* one for all */
        at = text_find_part(text ? text : "", 0, &length);
    snprintf(part, size, "%.*s", (int)length, at);
    return part;
}

struct place watch_chain_at(const struct watch_settings *watch, size_t result)
{
    return result < watch->n_outputs && watch->outputs[result].chain_at.line > 0
               ? watch->outputs[result].chain_at
               : watch->chain_at;
}

struct place watch_format_at(const struct watch_settings *watch, size_t result)
{
    return result < watch->n_outputs && watch->outputs[result].format_at.line > 0
               ? watch->outputs[result].format_at
               : watch->format_at;
}

/* Names are alike if folder, template and format are, unless {chain} tells them apart. Which
 * extensions formats have is known to the worker alone. */
static bool are_alike(const struct watch_settings *watch, size_t a, size_t b)
{
    const char *const texts[] = {watch->folder, watch->name, watch->format};
    const char *chain = watch->chain_name ? watch->chain_name : watch->chain;
    char first[16400], second[16400];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        watch_part(texts[i], a, first, sizeof first);
        watch_part(texts[i], b, second, sizeof second);
        if (texts[i] == watch->format) /* without its options */
            first[strcspn(first, ":")] = second[strcspn(second, ":")] = '\0';
        if (strcmp(first, second) != 0)
            return false;
    }
    return !strstr(watch_part(watch->name, a, first, sizeof first), "{chain}") ||
           strcmp(watch_part(chain, a, first, sizeof first),
                  watch_part(chain, b, second, sizeof second)) == 0;
}

int watch_check_results(const struct watch_settings *watch, size_t *result, struct fault *fault)
{
    const struct {
        const char *what, *text;
    } texts[] = {{"formats", watch->format}, {"names", watch->name}, {"folders", watch->folder}};
    size_t count = watch_count_results(watch);
    *result = count - 1;
    if (count > WATCH_RESULTS_MAX)
        return fault_set(fault, FAULT_CONFIG, "%zu results of each picture; the limit is %d", count,
                         WATCH_RESULTS_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = text_count_parts(texts[i].text ? texts[i].text : "");
        if (n != 1 && n != count)
            return fault_set(fault, FAULT_CONFIG, "%zu %s for %zu result%s", n, texts[i].what,
                             count, count == 1 ? "" : "s");
    }
    for (*result = 1; *result < count; ++*result)
        for (size_t i = 0; i < *result; i++)
            if (are_alike(watch, i, *result))
                return fault_set(fault, FAULT_CONFIG,
                                 "results %zu and %zu would have the same name; give each its own "
                                 "name or folder",
                                 i + 1, *result + 1);
    return 0;
}

/* ---- the environment ---- */

const char *setting_variable(const struct settings_section *section, const struct setting *setting,
                             char variable[SETTINGS_VARIABLE_MAX])
{
    if (setting->variable)
        return setting->variable;
    snprintf(variable, SETTINGS_VARIABLE_MAX, "SLUICE_%s%s%s", section->name,
             section->name[0] ? "_" : "", setting->param.name);
    for (char *c = variable; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return variable;
}

/* Sets one from a variable; an empty variable counts as unset. The value's place in the file is
 * forgotten. */
static void set_from(const struct setting *setting, void *to, const char *variable,
                     const char *text, struct text *errors)
{
    struct fault fault = FAULT_INIT;
    if (!text || !text[0])
        return;
    if (setting->param.type == PARAM_FLAG) /* written as in the file: true or false */
        text = strcmp(text, "true") == 0 ? "1" : strcmp(text, "false") == 0 ? "0" : text;
    if (setting->param.type == PARAM_FLAG && strcmp(text, "1") != 0 && strcmp(text, "0") != 0)
        text_printf(errors, "%s: '%s': expected true or false\n", variable, text);
    else if (setting_set(setting, to, text, false, variable, &fault) != 0)
        text_printf(errors, "%s\n", fault.text);
    if (setting->place)
        *(struct place *)((char *)to + setting->place) = (struct place){0};
}

/* A variable by its name: "SLUICE_WATCH_3_CHAIN" is CHAIN of folder number 3. */
struct variable {
    const char *entry;                /* of the environment: "NAME=VALUE" */
    size_t length;                    /* of NAME */
    size_t head;                      /* of "SLUICE_SECTION_" */
    int number;                       /* −1: the name has none */
    char name[SETTINGS_VARIABLE_MAX]; /* without the number; cut if too long */
};

/* Returns false for a variable that is not of this section. */
static bool read_variable(struct variable *v, const char *entry,
                          const struct settings_section *section)
{
    char head[SETTINGS_VARIABLE_MAX];
    int digits = 0;
    int length = snprintf(head, sizeof head, "SLUICE_%s_", section->name);
    *v = (struct variable){
        .entry = entry, .length = strcspn(entry, "="), .head = (size_t)length, .number = -1};
    if (v->length < v->head) /* the name ends with the section */
        v->head = v->length;
    if (!section->name[0] || v->head + 1 < (size_t)length || entry[v->length] != '=' ||
        strncasecmp(entry, head, v->head) != 0)
        return false;
    if (section == &settings_watch &&
        (sscanf(entry + v->head, "%3d%n", &v->number, &digits) != 1 || entry[v->head] == '-' ||
         entry[v->head + (size_t)digits] != '_')) {
        v->number = -1;
        digits = 0;
    }
    size_t skip = v->number >= 0 ? (size_t)digits + 1 : 0;
    snprintf(v->name, sizeof v->name, "%.*s%.*s", (int)v->head, entry,
             (int)(v->length - v->head - skip), entry + v->head + skip);
    return true;
}

/* The setting that a variable means. A misspelt variable would have no effect, so it is an error
 * that names the nearest one. */
static const struct setting *find_meant(const struct settings_section *section,
                                        const struct variable *v, struct text *errors)
{
    char names[32][SETTINGS_VARIABLE_MAX];
    struct nearest nearest = {0};
    size_t count = 0;
    for (const struct setting *s = section->table; s->param.name && count < 32; s++, count++) {
        char buffer[SETTINGS_VARIABLE_MAX];
        snprintf(names[count], sizeof names[count], "%s", setting_variable(section, s, buffer));
        if (strcmp(names[count], v->name) == 0)
            return s;
        nearest_offer(&nearest, v->name, strlen(v->name), names[count]);
    }
    text_printf(errors, "%.*s: there is no such setting", (int)v->length, v->entry);
    if (nearest.best && v->number >= 0)
        text_printf(errors, "; did you mean %.*s%d_%s?", (int)v->head, nearest.best, v->number,
                    nearest.best + v->head);
    else if (nearest.best)
        text_printf(errors, "; did you mean %s?", nearest.best);
    text_append(errors, "\n");
    return NULL;
}

static void read_section(struct settings *settings, const struct settings_section *section,
                         struct text *errors)
{
    struct variable v;
    for (const struct setting *s = section->table; s->param.name; s++) {
        char variable[SETTINGS_VARIABLE_MAX];
        const char *name = setting_variable(section, s, variable);
        set_from(s, (char *)settings + section->offset, name, getenv(name), errors);
    }
    for (char **entry = environ; *entry; entry++)
        if (read_variable(&v, *entry, section))
            find_meant(section, &v, errors);
}

/* Adds folders for variables with the number after the last. */
static void add_watches(struct settings *settings, struct text *errors)
{
    for (bool added = true; added && !errors->failed;) {
        added = false;
        for (char **entry = environ; *entry; entry++) {
            struct variable v;
            int next = (int)settings->n_watches;
            if (read_variable(&v, *entry, &settings_watch) &&
                (v.number == next || (v.number < 0 && next == 0))) {
                added = settings_add_watch(settings) != NULL;
                errors->failed |= !added;
            }
        }
    }
}

static void set_watch(struct settings *settings, const struct variable *v, bool own_folder,
                      struct text *errors)
{
    const struct setting *setting = find_meant(&settings_watch, v, errors);
    size_t index = v->number >= 0 ? (size_t)v->number : 0;
    char variable[SETTINGS_VARIABLE_MAX];
    snprintf(variable, sizeof variable, "%.*s", (int)v->length, v->entry);
    if (!setting || (own_folder && v->number >= 0))
        return;
    if (v->number < 0 && settings->n_watches > 1)
        text_printf(errors, "%s: there are %zu folders: name one by its number, as in %.*s0_%s\n",
                    variable, settings->n_watches, (int)v->head, v->name, v->name + v->head);
    else if (index >= settings->n_watches)
        text_printf(errors, "%s: there is no folder %zu; the next one is number %zu\n", variable,
                    index, settings->n_watches);
    else
        set_from(setting, &settings->watches[index], variable, v->entry + v->length + 1, errors);
}

/* Variables with a folder's number override those without. */
static void read_watches(struct settings *settings, bool own_folder, struct text *errors)
{
    if (own_folder) {
        clear_watches(settings);
        errors->failed |= settings_add_watch(settings) == NULL;
    } else {
        add_watches(settings, errors);
    }
    for (int numbered = 0; numbered < 2 && !errors->failed; numbered++) {
        for (char **entry = environ; *entry; entry++) {
            struct variable v;
            if (read_variable(&v, *entry, &settings_watch) && (v.number >= 0) == numbered)
                set_watch(settings, &v, own_folder, errors);
        }
    }
}

void settings_read_environment(struct settings *settings, bool own_folder, struct text *errors)
{
    for (const struct settings_section *section = settings_sections; section->name; section++)
        read_section(settings, section, errors);
    read_watches(settings, own_folder, errors);
}

/* ---- templates of names ---- */

int settings_check_socket(const char *path, struct fault *fault)
{
    const char *colon = strrchr(path, ':');
    const char *port = colon ? colon + 1 : path;
    bool ends_in_port = port[0] && port[strspn(port, "0123456789")] == '\0' && !strchr(path, '/');
    if (!ends_in_port && !strstr(path, "://") && strncmp(path, "unix:", 5) != 0)
        return 0;
    return fault_set(fault, FAULT_CONFIG,
                     "'%.100s' is no path of a Unix socket, such as /run/sluice/http.sock; for TCP "
                     "put nginx, socat or systemd-socket-proxyd in front of one (docs/http.md)",
                     path);
}

int settings_check_name(const char *template, struct fault *fault)
{
    static const char *const words[] = {"{stem}", "{ext}", "{name}", "{chain}", "{date}"};
    static const char end[] = ".{ext}";
    size_t length = strlen(template);
    if (length < sizeof end || strcmp(template + length - sizeof end + 1, end) != 0)
        return fault_set(fault, FAULT_CONFIG, "'%.60s' does not end with .{ext}", template);
    if (template[0] == '.' || strchr(template, '/') || length > 200)
        return fault_set(fault, FAULT_CONFIG,
                         "'%.60s': no '.' in front, no '/', at most 200 bytes", template);
    for (const char *at = template; (at = strpbrk(at, "{}")) != NULL;) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && strncmp(at, words[i], strlen(words[i])) != 0)
            i++;
        if (i == sizeof words / sizeof *words)
            return fault_set(fault, FAULT_CONFIG,
                             "'%.60s': there are {stem} {ext} {name} {chain} {date}",
                             template);
        at += strlen(words[i]);
    }
    return 0;
}
