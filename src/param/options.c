#include "param/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

#define OPTIONS_MAX 64

/* The tables as one list, and in the form that getopt_long takes. */
struct gathered {
    const struct options_row *rows[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 4];
    int count;
};

static void gather(const struct options_usage *usage, struct gathered *g)
{
    char *s = g->shorts;
    *s++ = ':'; /* distinguishes a missing value from an unknown option */
    g->count = 0;
    for (int t = 0; t < OPTIONS_TABLES_MAX && usage->tables[t]; t++) {
        for (const struct options_row *row = usage->tables[t]; row->param.name; row++) {
            bool flag = row->param.type == PARAM_FLAG;
            g->rows[g->count] = row;
            g->longs[g->count] = (struct option){
                row->param.name, flag ? no_argument : required_argument, NULL, 256 + g->count};
            g->count++;
            if (row->letter) {
                *s++ = row->letter;
                if (!flag)
                    *s++ = ':';
            }
        }
    }
    g->longs[g->count] = (struct option){"help", no_argument, NULL, 'h'};
    g->longs[g->count + 1] = (struct option){0};
    *s++ = 'h';
    *s = '\0';
}

static int find(const struct gathered *g, int value)
{
    int i = 0;
    if (value >= 256)
        return value - 256;
    while (g->rows[i]->letter != value)
        i++;
    return i;
}

int options_complain(const char *program, const char *what, const struct fault *fault)
{
    if (what)
        fprintf(stderr, "%s: %s: %s\n", program, what, fault->text);
    else
        fprintf(stderr, "%s: %s\n", program, fault->text);
    return fault_exit_status(fault->code);
}

/* "sluice: run: " or "sluiced: ", and what is wrong. */
static int complain(const struct options_usage *usage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int complain(const struct options_usage *usage, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s: %s%s", usage->program, usage->command ? usage->command : "",
            usage->command ? ": " : "");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return -64;
}

static int unknown(const struct options_usage *usage, const struct gathered *g, const char *word)
{
    struct nearest nearest = {0};
    if (word[0] == '-' && word[1] == '-')
        for (int i = 0; i < g->count; i++)
            nearest_offer(&nearest, word + 2, strcspn(word + 2, "="), g->rows[i]->param.name);
    return complain(usage, "unknown option '%s'%s (see %s%s%s --help)", word,
                    nearest_ask(&nearest, "--"), usage->program, usage->command ? " " : "",
                    usage->command ? usage->command : "");
}

static void print_row(const struct options_row *row, FILE *to)
{
    char left[64];
    const struct param *p = &row->param;
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, p->name, row->value_name ? " " : "",
             row->value_name ? row->value_name : "");
    fprintf(to, "%-32s %s", left, p->help);
    if (p->choices) {
        struct text allowed = {0};
        param_print_allowed(p, &allowed);
        fprintf(to, " (%s)", text_string(&allowed));
        text_finish(&allowed);
    }
    if (p->fallback && p->type != PARAM_FLAG)
        fprintf(to, " [%s]", p->fallback);
    putc('\n', to);
}

static void print_help(const struct options_usage *usage, FILE *to)
{
    fprintf(to, "usage: %s%s%s %s\n\n%s\n", usage->program, usage->command ? " " : "",
            usage->command ? usage->command : "", usage->operands, usage->summary);
    for (int t = 0; t < OPTIONS_TABLES_MAX && usage->tables[t]; t++) {
        fputs(t == 0 ? "\noptions:\n" : "", to);
        for (const struct options_row *row = usage->tables[t]; row->param.name; row++)
            print_row(row, to);
    }
    fprintf(to, "%-32s %s\n", "  -h, --help", "this text");
    if (usage->details)
        fprintf(to, "\n%s", usage->details);
}

/* Adds a text to an array of them. False: it is full. */
static bool add_text(const struct options_row *row, void *config, const char *value)
{
    const char **at = (const char **)((char *)config + row->param.offset);
    for (unsigned i = 0; i < row->most; i++) {
        if (!at[i]) {
            at[i] = value;
            return true;
        }
    }
    return false;
}

static int set_option(const char *program, const struct options_row *row, void *config,
                      const char *value)
{
    struct fault fault = FAULT_INIT;
    static const char what[] = "option";
    if (row->param.type == PARAM_FLAG)
        value = "1";
    if (param_set(&row->param, config, value, strlen(value), true, what, &fault) == 0)
        return 0;
    fprintf(stderr, "%s: --%s\n", program, fault.text + strlen(what) + 2);
    return -64;
}

int options_parse(const struct options_usage *usage, void *config, int argc, char **argv,
                  FILE *help)
{
    struct gathered g;
    int value;
    const char *given[OPTIONS_MAX] = {NULL}; /* by row; an option with a letter may be given once */
    const struct options_groups *groups = usage->groups;
    char *group =
        groups ? (char *)config + groups->offset : NULL; /* the one that options are about */
    size_t *count = groups ? (size_t *)((char *)config + groups->count_offset) : NULL;
    gather(usage, &g);
    for (int i = 0; i < g.count; i++) {
        struct param one[2] = {g.rows[i]->param, {0}};
        param_defaults(one, g.rows[i]->each ? group : config);
    }
    if (groups)
        *count = 1;
    opterr = 0;
    optind = 1;
    while ((value = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
        char shown[3] = {'-', (char)optopt, '\0'};
        const char *word = optopt > 0 && optopt < 256 ? shown : argv[optind - 1];
        if (value == 'h') {
            print_help(usage, help);
            return OPTIONS_HELP_SHOWN;
        }
        if (value == ':')
            return complain(usage, "option '%s' needs a value", argv[optind - 1]);
        if (value == '?' && optopt != 0 && strncmp(argv[optind - 1], "--", 2) == 0)
            return complain(usage, "option '%.*s' takes no value",
                            (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
        if (value == '?')
            return unknown(usage, &g, word);
        int index = find(&g, value);
        const struct options_row *row = g.rows[index];
        if (row->each && given[index]) {
            if (*count == groups->most)
                return complain(usage, "more than %zu %s", groups->most, groups->what);
            group += groups->size;
            ++*count;
            for (int i = 0; i < g.count; i++)
                given[i] = g.rows[i]->each ? NULL : given[i];
        }
        if (row->letter && optarg && given[index])
            return complain(usage, "-%c (--%s) is given twice, as '%s' and as '%s'", row->letter,
                            row->param.name, given[index], optarg);
        given[index] = optarg;
        if (row->most > 0 && !add_text(row, config, optarg))
            return complain(usage, "--%s is given more than %u times", row->param.name, row->most);
        if (row->most > 0)
            continue;
        int result = set_option(usage->program, row, row->each ? group : config, optarg);
        if (result != 0)
            return result;
    }
    return optind;
}
