#include "daemon/front/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/loops.h"
#include "daemon/serve/manager.h"
#include "param/options.h"
#include "version.h"

#define AT(member)      offsetof(struct daemon_options, member)
#define CHAIN_BYTES_MAX 50000 /* fits into a message; a chain's own limit may be lower */
#define HELP_MAX        300

static const struct options_row other_rows[] = {
    OPTION(0, "FILE", TEXT, "config", AT(config),
           "configuration (docs/configuration.md; sluice check-config FILE checks it); else "
           "SLUICE_CONFIG; options override it"),
    OPTION(0, NULL, FLAG, "once", AT(once),
           "end when all files that are in the folders are done; exit 0, or 1 if some have failed",
           DEFAULT("0")),
    OPTION('q', NULL, FLAG, "quiet", AT(quiet), "log errors only", DEFAULT("0")),
    OPTION('v', NULL, FLAG, "verbose", AT(verbose), "log more", DEFAULT("0")),
    OPTION('V', NULL, FLAG, "version", AT(version), "print the version", DEFAULT("0")),
    {0},
};

/* ---- options for settings: their texts are kept, and applied after file and environment ---- */

struct rows {
    struct options_row watch[DAEMON_OPTIONS_MAX], others[DAEMON_OPTIONS_MAX];
    char help[DAEMON_OPTIONS_MAX][HELP_MAX];
    const struct setting *settings[DAEMON_OPTIONS_MAX]; /* in the order of daemon_options.texts */
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
        *to++ = (struct options_row){
            s->letter, s->value_name,
            PARAM(TEXT, s->option, AT(texts) + rows->count * sizeof(char *), help)};
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
        .details =
            "sluiced --watch in/ --output out/ --chain luminance,sobel:scale=1 --format jpg\n"
            "sluiced --once --watch in/ --output out/ --chain resize:640 --format jpg\n"
            "sluiced --config /etc/sluice/sluice.yaml\n\n"
            "An original goes to DIR/.sluice/done/ when its result is there, and to "
            "DIR/.sluice/failed/\nwith the reason if it fails. Folders that are named here are "
            "made when they are missing.\n",
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

/* ---- applying file, environment and command line ---- */

/* True when the command line has an option of a folder; these are the first options. */
bool daemon_options_name_folder(const struct daemon_options *options)
{
    size_t i = 0;
    bool has = false;
    for (const struct setting *s = settings_watch.table; s->param.name; s++)
        if (s->option)
            has |= options->texts[i++] != NULL;
    return has;
}

/* A folder on the command line replaces all folders of the file. */
static void set_all(const struct daemon_options *options, struct settings *settings,
                    struct text *errors)
{
    struct rows *rows = malloc(sizeof *rows);
    if (!rows) {
        errors->failed = true;
        return;
    }
    size_t n_watch = add_all_rows(rows);
    for (size_t i = 0; i < rows->count; i++) {
        static const char what[] = "option";
        struct setting named = *rows->settings[i];
        struct fault fault = FAULT_INIT;
        named.param.name = named.option;
        if (options->texts[i] &&
            setting_set(&named, i < n_watch ? (void *)settings->watches : settings,
                        options->texts[i], true, what, &fault) != 0)
            text_printf(errors, "--%s\n", fault.text + strlen(what) + 2);
    }
    free(rows);
}

static void check_watch(const struct watch_settings *w, size_t index, bool own_folder,
                        struct text *errors)
{
    const struct {
        const char *value, *what, *key;
    } needed[] = {{w->input, "which folder? --watch DIR", "INPUT"},
                  {w->output, "where to? --output DIR", "OUTPUT"},
                  {w->chain, "what is to be done? --chain CHAIN", "CHAIN"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].value && own_folder)
            text_printf(errors, "%s is missing\n", needed[i].what);
        else if (!needed[i].value)
            text_printf(errors, "%s is missing, or SLUICE_WATCH_%zu_%s\n", needed[i].what, index,
                        needed[i].key);
    struct fault fault = FAULT_INIT;
    if (w->chain && watch_check_results(w, &(size_t){0}, &fault) != 0)
        text_printf(errors, "%s: %s\n", w->input ? w->input : "", fault.text);
    if (w->chain && (strlen(w->chain) > CHAIN_BYTES_MAX || strlen(w->format) > 1000 ||
                     (w->reading && strlen(w->reading) > 1000)))
        text_append(errors, "such a long chain, format or input is no message to a worker\n");
}

static void check_watches(const struct settings *settings, bool own_folder, struct text *errors)
{
    bool listens =
        settings->http.unix_path || settings->jobs_socket.unix_path || manager_gave_sockets();
    if (settings->n_watches == 0 && !listens)
        text_printf(errors, "%s%s\n",
                    settings->file ? settings->file
                                   : "which folder? --watch DIR is missing, or --config FILE",
                    settings->file
                        ? " has neither a folder to watch nor a socket, and --watch DIR is missing"
                        : "");
    for (size_t i = 0; i < settings->n_watches; i++)
        check_watch(&settings->watches[i], i, own_folder, errors);
}

/* From the defaults to the configuration in force. A step that adds to `errors` is the last. */
static int load(const struct daemon_options *options, struct config *config, struct text *errors,
                struct fault *fault)
{
    struct settings *settings = &config->settings;
    if (!options->config)
        settings_defaults(settings);
    else if (config_read(config, options->config, errors, fault) != 0) {
        if (errors->length == 0)
            text_printf(errors, "%s: %s\n", options->config, fault->text);
        return fault->code;
    }
    bool own_folder = daemon_options_name_folder(options);
    settings_read_environment(settings, own_folder, errors);
    if (errors->length > 0)
        return fault_set(fault, FAULT_CONFIG, "the environment is wrong");
    if (errors->failed)
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    set_all(options, settings, errors);
    check_watches(settings, own_folder, errors);
    if (options->once && settings->n_watches == 0)
        text_append(errors, "--once: there is no folder whose files could be done\n");
    if (errors->length > 0)
        return fault_set(fault, options->config ? FAULT_CONFIG : FAULT_USAGE,
                         "the command line is wrong");
    config_resolve_chains(config);
    settings_complete(settings);
    settings_check_loops(settings, errors);
    if (errors->length > 0)
        return fault_set(fault, FAULT_CONFIG, "results would be taken for new pictures");
    if (errors->failed)
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    if (options->quiet || options->verbose)
        settings->log_level = options->quiet ? LOG_LEVEL_ERROR : LOG_LEVEL_DEBUG;
    return 0;
}

int daemon_options_load(const struct daemon_options *options, struct rulebook **book,
                        struct text *errors, struct fault *fault)
{
    struct rulebook *b = calloc(1, sizeof *b);
    *book = NULL;
    if (!b)
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    b->users = 1;
    int result = load(options, &b->config, errors, fault);
    if (result == 0)
        *book = b;
    else
        rulebook_leave(&b);
    return result;
}
