/* sluice check-config: reports what the daemon would report about a configuration. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "chain/chain.h"
#include "cli/common.h"
#include "codec/codec.h"
#include "codec/pictures.h"
#include "config/config.h"
#include "config/loops.h"

#define AT(member) offsetof(struct check_options, member)

struct check_options {
    struct common_options common;
    bool reference;
};

static const struct options_row options[] = {
    OPTION(0, NULL, FLAG, "reference", AT(reference),
           "print the tables of docs/configuration.md in place of checking anything"),
    {0},
};

static const struct options_usage usage = {
    .command = "check-config",
    .operands = "FILE",
    .summary = "Prints every error of a configuration at once, each with file:line:column.",
    .details =
        "Exit status 78 if there is an error. Missing folders, folders to which this user may "
        "not\nwrite, and hooks that cannot be started are warnings.\n",
    .tables = {options, cli_output_options},
};

static void check_chain(const struct config *config, const char *text, struct place place,
                        bool is_watched, struct text *errors)
{
    struct faults faults = {0};
    struct chain chain;
    const char *guess = is_watched ? config_guess_chain(config, text) : NULL;
    if (chain_parse_all(&chain, text, &config->definitions, &faults) == 0)
        chain_finish(&chain);
    if (guess && faults_count(&faults) > 0) {
        text_printf(errors,
                    "%s:%zu:%zu: chain: '%s' is no stage and no chain; did you mean '%s'?\n",
                    config->settings.file, place.line, place.column, text, guess);
        return;
    }
    for (size_t i = 0; i < faults_count(&faults); i++) {
        text_printf(errors, "%s:%zu:%zu: chain: %s\n", config->settings.file, place.line,
                    place.column, faults.list[i].text);
        fault_print_caret(&faults.list[i], text, errors);
    }
}

/* Chains of the file are checked where they are defined. */
static void check_watch(const struct config *config, const struct watch_settings *watch,
                        struct text *errors)
{
    struct decode_options decode;
    struct fault fault = FAULT_INIT;
    const char *file = config->settings.file;
    const char *names = watch->chain_name ? watch->chain_name : watch->chain, *part;
    size_t length;
    for (size_t i = 0; names && (part = text_find_part(names, i, &length)) != NULL; i++) {
        char *chain = strndup(part, length);
        if (chain && !config_chain(config, chain))
            check_chain(config, chain, watch_chain_at(watch, i), true, errors);
        errors->failed |= !chain;
        free(chain);
    }
    for (size_t i = 0; watch->format && (part = text_find_part(watch->format, i, &length)); i++) {
        struct format format = {0};
        char *text = strndup(part, length);
        struct place place = watch_format_at(watch, i);
        if (text && format_parse(&format, text, &fault) == 0)
            format_finish(&format);
        else if (text)
            text_printf(errors, "%s:%zu:%zu: format: %s\n", file, place.line, place.column,
                        fault.text);
        errors->failed |= !text;
        fault_clear(&fault);
        free(text);
    }
    if (decode_options_parse(&decode, watch->reading, "read", &fault) != 0)
        text_printf(errors, "%s:%zu:%zu: read: %s\n", file, watch->reading_at.line,
                    watch->reading_at.column, fault.text);
}

/* ---- folders and hooks: only warnings, since they may be there when sluiced starts ---- */

static void check_folder(const struct settings *settings, const char *path, struct place place,
                         const char *key, bool written, struct text *warnings)
{
    struct stat status;
    const char *wrong = NULL;
    if (!path)
        return;
    if (stat(path, &status) != 0)
        wrong = errno == ENOENT ? "no such folder" : strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        wrong = "not a folder";
    else if (faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) != 0)
        wrong = "may not be read by this user";
    else if (written && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        wrong = errno == EROFS ? "on a file system that is read-only"
                               : "may not be written to by this user";
    if (wrong)
        text_printf(warnings,
                    "%s:%zu:%zu: warning: watch: %s: %s: %s; sluiced waits until that is mended\n",
                    settings->file, place.line, place.column, key, path, wrong);
}

static void check_program(const struct settings *settings, const struct watch_settings *watch,
                          const char *key, const char *words, struct text *warnings)
{
    char path[HOOK_BYTES_MAX + 1];
    struct stat status;
    if (!words)
        return;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(words, " "), words);
    int found = stat(path, &status);
    if (found == 0 && S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
        return;
    text_printf(warnings, "%s:%zu:%zu: warning: watch: %s: %s: %s\n", settings->file,
                watch->at.line, watch->at.column, key, path,
                found != 0                 ? strerror(errno)
                : !S_ISREG(status.st_mode) ? "not a program"
                                           : "may not be executed by this user");
}

/* ---- output ---- */

/* A line is FILE:LINE:COLUMN: TEXT, or FILE:LINE:COLUMN: warning: TEXT. */
static json_t *line_json(const char *path, const char *line, size_t length)
{
    static const char warning[] = "warning: ";
    unsigned long row, column;
    int at = 0;
    size_t name = strlen(path);
    const char *rest = line + name;
    if (length > name && strncmp(line, path, name) == 0 &&
        sscanf(rest, ":%lu:%lu: %n", &row, &column, &at) == 2 && at > 0) {
        if (strncmp(rest + at, warning, sizeof warning - 1) == 0)
            at += (int)sizeof warning - 1;
        return json_pack("{s:I, s:I, s:s%}", "line", (json_int_t)row, "column", (json_int_t)column,
                         "text", rest + at, length - name - (size_t)at);
    }
    return json_pack("{s:n, s:n, s:s%}", "line", "column", "text", line, length);
}

/* Prints each line; returns them as JSON. */
static json_t *tell(const char *path, const struct text *text)
{
    json_t *list = json_array();
    const char *lines = text_string(text);
    for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1) {
        bool is_mark = lines[0] == ' '; /* a chain's text and carets, which follow an error */
        fprintf(stderr, "%s%.*s\n", is_mark ? "" : "sluice: ", (int)length, lines);
        if (!is_mark)
            json_array_append_new(list, line_json(path, lines, length));
    }
    return list;
}

static int check(const char *path, const struct common_options *common)
{
    struct config config;
    struct text errors = {0}, warnings = {0};
    struct fault fault = FAULT_INIT;
    int result = config_read_partly(&config, path, &errors, &fault);
    if (result != 0 && errors.length == 0) {
        text_finish(&errors);
        config_finish(&config);
        return cli_complain(path, &fault);
    }
    const struct settings *settings = &config.settings;
    const struct codec_limits limits = {settings->max_pixels, settings->memory / 2};
    codec_read_pictures(&config.definitions, &limits, &errors);
    config_resolve_chains(&config);
    for (size_t i = 0; i < config.n_chains; i++)
        check_chain(&config, config.chains[i].text, config.chains[i].place, false, &errors);
    for (size_t i = 0; i < settings->n_watches; i++) {
        const struct watch_settings *watch = &settings->watches[i];
        check_watch(&config, watch, &errors);
        check_folder(settings, watch->input, watch->input_at, "input", watch->claim == CLAIM_RENAME,
                     &warnings);
        check_folder(settings, watch->output, watch->output_at, "output", true, &warnings);
        check_program(settings, watch, "on_done", watch->on_done, &warnings);
        check_program(settings, watch, "on_failed", watch->on_failed, &warnings);
    }
    settings_check_loops(settings, &errors);
    json_t *wrong = tell(path, &errors), *doubtful = tell(path, &warnings);
    if (common->json)
        cli_print_json(json_pack("{s:s, s:b, s:I, s:I, s:O, s:O}", "file", path, "good",
                                 json_array_size(wrong) == 0, "chains", (json_int_t)config.n_chains,
                                 "watched_folders", (json_int_t)settings->n_watches, "errors",
                                 wrong, "warnings", doubtful));
    json_decref(wrong);
    json_decref(doubtful);
    int status = errors.length > 0 ? fault_exit_status(FAULT_CONFIG) : 0;
    if (status == 0 && !common->quiet && !common->json)
        fprintf(cli_stdout, "%s: good: chains: %zu, watched folders: %zu\n", path, config.n_chains,
                settings->n_watches);
    text_finish(&errors);
    text_finish(&warnings);
    config_finish(&config);
    return status;
}

static int check_config(void *options_, char **operands, size_t count)
{
    struct check_options *o = options_;
    cli_common_apply(&o->common);
    if (o->reference) {
        struct text text = {0};
        settings_print_reference(&text);
        fputs(text_string(&text), cli_stdout);
        text_finish(&text);
        return 0;
    }
    if (count != 1)
        return cli_refuse(64, "check-config: %s (see sluice check-config --help)",
                          count == 0 ? "which file?" : "one file at a time");
    return check(operands[0], &o->common);
}

const struct command command_check_config = {&usage, sizeof(struct check_options), check_config};
