#include "daemon/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/manager.h"
#include "param/options.h"
#include "version.h"

#define AT(member)      offsetof(struct daemon_options, member)
#define CHAIN_BYTES_MAX 50000 /* what fits a message; a chain may be shorter still */
#define HELP_MAX        300

static const struct options_row other_rows[] = {
    {0,
     "FILE",
     {.name = "config",
      .type = PARAM_TEXT,
      .offset = AT(config),
      .help = "configuration (docs/configuration.md); else SLUICE_CONFIG; options come before it"}},
    {'q',
     NULL,
     {.name = "quiet",
      .type = PARAM_FLAG,
      .offset = AT(quiet),
      .fallback = "0",
      .help = "log errors alone"}},
    {'v',
     NULL,
     {.name = "verbose",
      .type = PARAM_FLAG,
      .offset = AT(verbose),
      .fallback = "0",
      .help = "log more"}},
    {'V',
     NULL,
     {.name = "version",
      .type = PARAM_FLAG,
      .offset = AT(version),
      .fallback = "0",
      .help = "print the version"}},
    {0},
};

/* ---- settings as options: their texts are kept, and set after file and environment ---- */

struct rows {
    struct options_row watch[DAEMON_OPTIONS_MAX], others[DAEMON_OPTIONS_MAX];
    char help[DAEMON_OPTIONS_MAX][HELP_MAX];
    const struct setting *settings[DAEMON_OPTIONS_MAX]; /* by their place in daemon_options.texts */
    size_t count;
};

static void print_help_of(const struct param *param, char help[HELP_MAX])
{
    struct text text = {0};
    text_append(&text, param->help);
    for (const struct param_choice *c = param->choices; c && c->name; c++)
        text_printf(&text, "%s%s%s", c == param->choices ? " (" : ", ", c->name,
                    c[1].name ? "" : ")");
    if (param->fallback)
        text_printf(&text, " [%s]", param->fallback);
    snprintf(help, HELP_MAX, "%s", text_string(&text));
    text_finish(&text);
}

static void add_rows(struct rows *rows, struct options_row *to, const struct setting *table)
{
    while (to->param.name)
        to++;
    for (const struct setting *s = table; s->param.name; s++) {
        if (!s->option || rows->count == DAEMON_OPTIONS_MAX)
            continue;
        char *help = rows->help[rows->count];
        print_help_of(&s->param, help);
        *to++ = (struct options_row){s->letter,
                                     s->value_name,
                                     {.name = s->option,
                                      .type = PARAM_TEXT,
                                      .offset = AT(texts) + rows->count * sizeof(char *),
                                      .help = help}};
        rows->settings[rows->count++] = s;
    }
}

static size_t add_all_rows(struct rows *rows)
{
    *rows = (struct rows){0};
    add_rows(rows, rows->watch, settings_watch.table);
    size_t n_watch = rows->count;
    for (const struct settings_section *s = settings_sections; s->name; s++)
        add_rows(rows, rows->others, s->table);
    return n_watch;
}

int daemon_options_read(struct daemon_options *options, int argc, char **argv)
{
    struct rows *rows = malloc(sizeof *rows);
    *options = (struct daemon_options){0};
    if (!rows)
        return 70;
    add_all_rows(rows);
    const struct options_usage usage = {
        .program = "sluiced",
        .operands = "--config FILE | --watch DIR --output DIR --chain CHAIN [OPTIONS]",
        .summary = "Runs a chain on every picture that is put into a folder.",
        .details = "sluiced --watch in/ --output out/ --chain luminance,sobel --format jpg\n"
                   "sluiced --config /etc/sluice/sluice.yaml\n\n"
                   "An original goes to DIR/.sluice/done/ when its result is there, to "
                   "DIR/.sluice/failed/ with\nthe reason when there can be none.\n",
        .tables = {rows->watch, rows->others, other_rows},
    };
    int first = options_parse(&usage, options, argc, argv, stdout);
    free(rows);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    if (options->version) {
        puts("sluiced " SLUICE_VERSION);
        return 0;
    }
    if (first < argc) {
        fprintf(stderr, "sluiced: there are no operands; the folder is named by --watch (see "
                        "sluiced --help)\n");
        return 64;
    }
    if (!options->config && getenv("SLUICE_CONFIG") && getenv("SLUICE_CONFIG")[0])
        options->config = getenv("SLUICE_CONFIG");
    return -1;
}

/* ---- all that is told ---- */

static void set_one(const struct setting *setting, void *to, const char *text, struct text *errors)
{
    struct setting named = *setting;
    struct fault fault = FAULT_INIT;
    static const char what[] = "option";
    named.param.name = setting->option;
    if (setting_set(&named, to, text, true, what, &fault) != 0)
        text_printf(errors, "--%s\n", fault.text + strlen(what) + 2);
}

/* What the command line says replaces what the file says: a folder of its own all folders. */
static void set_all(const struct daemon_options *options, struct settings *settings,
                    struct text *errors)
{
    struct rows *rows = malloc(sizeof *rows);
    struct watch_settings *watch = NULL;
    if (!rows) {
        errors->failed = true;
        return;
    }
    size_t n_watch = add_all_rows(rows);
    bool own = false;
    for (size_t i = 0; i < n_watch; i++)
        own |= options->texts[i] != NULL;
    if (own) {
        settings_clear_watches(settings);
        watch = settings_add_watch(settings);
        errors->failed |= !watch;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (options->texts[i] && (i >= n_watch || watch))
            set_one(rows->settings[i], i < n_watch ? (void *)watch : settings, options->texts[i],
                    errors);
    free(rows);
}

static bool listens(const struct settings *settings)
{
    return settings->http.unix_path || settings->jobs_socket.unix_path || manager_gave_sockets();
}

static void check_watches(const struct settings *settings, struct text *errors)
{
    if (settings->n_watches == 0 && !listens(settings))
        text_append(errors, settings->file
                                ? "the file has neither a folder to watch nor a socket, and "
                                  "--watch DIR is missing\n"
                                : "which folder? --watch DIR is missing, or --config FILE\n");
    for (size_t i = 0; i < settings->n_watches; i++) {
        const struct watch_settings *w = &settings->watches[i];
        if (!w->input)
            text_append(errors, "which folder? --watch DIR is missing\n");
        if (!w->output)
            text_append(errors, "where to? --output DIR is missing\n");
        if (!w->chain)
            text_append(errors, "what is to be done? --chain CHAIN is missing\n");
        else if (strlen(w->chain) > CHAIN_BYTES_MAX || strlen(w->format) > 1000 ||
                 (w->reading && strlen(w->reading) > 1000))
            text_append(errors, "such a long chain, format or input is no message to a worker\n");
    }
}

int daemon_options_load(const struct daemon_options *options, struct rulebook **book,
                        struct text *errors, struct fault *fault)
{
    struct rulebook *b = calloc(1, sizeof *b);
    int result = 0;
    *book = NULL;
    if (!b)
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    b->users = 1;
    if (options->config) {
        result = config_read(&b->config, options->config, errors, fault);
        if (result != 0 && errors->length == 0)
            text_printf(errors, "%s: %s\n", options->config, fault->text);
    } else {
        settings_defaults(&b->config.settings);
    }
    struct settings *settings = &b->config.settings;
    if (result == 0) {
        settings_read_environment(settings, errors);
        if (errors->length > 0)
            result = fault_set(fault, FAULT_CONFIG, "the environment is wrong");
    }
    if (result == 0) {
        set_all(options, settings, errors);
        check_watches(settings, errors);
        if (errors->failed)
            result = fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
        else if (errors->length > 0)
            result = fault_set(fault, options->config ? FAULT_CONFIG : FAULT_USAGE, "%s",
                               "the command line is wrong");
    }
    if (result == 0) {
        if (options->quiet || options->verbose)
            settings->log_level = options->quiet ? LOG_LEVEL_ERROR : LOG_LEVEL_DEBUG;
        config_resolve_chains(&b->config);
        settings_complete(settings);
        *book = b;
        return 0;
    }
    rulebook_leave(&b);
    return result;
}
