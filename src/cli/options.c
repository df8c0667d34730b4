#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/common.h"

#define OPTIONS_MAX 64

/* The tables as one list, and as getopt_long wants them. */
struct gathered {
    const struct cli_option *options[OPTIONS_MAX];
    struct option longs[OPTIONS_MAX + 2];
    char shorts[2 * OPTIONS_MAX + 4];
    int count;
};

static void gather(const struct cli_usage *usage, struct gathered *g)
{
    char *s = g->shorts;
    *s++ = ':'; /* tell a missing value from an unknown option */
    g->count = 0;
    for (int t = 0; t < CLI_TABLES_MAX && usage->tables[t]; t++) {
        for (const struct cli_option *o = usage->tables[t]; o->param.name; o++) {
            bool flag = o->param.type == PARAM_FLAG;
            g->options[g->count] = o;
            g->longs[g->count] = (struct option){
                o->param.name, flag ? no_argument : required_argument, NULL, 256 + g->count};
            g->count++;
            if (o->letter) {
                *s++ = o->letter;
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

static const struct cli_option *find(const struct gathered *g, int value)
{
    if (value >= 256)
        return g->options[value - 256];
    for (int i = 0; i < g->count; i++)
        if (g->options[i]->letter == value)
            return g->options[i];
    return NULL;
}

int cli_complain(const char *what, const struct fault *fault)
{
    if (what)
        fprintf(stderr, "sluice: %s: %s\n", what, fault->text);
    else
        fprintf(stderr, "sluice: %s\n", fault->text);
    return fault_exit_status(fault->code);
}

static int unknown(const struct cli_usage *usage, const struct gathered *g, const char *word)
{
    struct nearest nearest = {0};
    if (word[0] == '-' && word[1] == '-') {
        for (int i = 0; i < g->count; i++)
            nearest_offer(&nearest, word + 2, strcspn(word + 2, "="), g->options[i]->param.name);
        fprintf(stderr, "sluice: %s: unknown option '%s'%s%s%s (see sluice %s --help)\n",
                usage->command, word, nearest.best ? "; did you mean '--" : "",
                nearest.best ? nearest.best : "", nearest.best ? "'?" : "", usage->command);
    } else {
        fprintf(stderr, "sluice: %s: unknown option '%s' (see sluice %s --help)\n", usage->command,
                word, usage->command);
    }
    return -64;
}

static int set_option(const struct cli_option *option, void *config, const char *value)
{
    struct fault fault = FAULT_INIT;
    char what[64];
    if (option->param.type == PARAM_FLAG)
        value = "1";
    snprintf(what, sizeof what, "option");
    if (param_set(&option->param, config, value, strlen(value), true, what, &fault) == 0)
        return 0;
    fprintf(stderr, "sluice: --%s\n", fault.text + strlen(what) + 2);
    return -64;
}

int cli_parse(const struct cli_usage *usage, void *config, int argc, char **argv)
{
    struct gathered g;
    int value;
    gather(usage, &g);
    for (int i = 0; i < g.count; i++) {
        struct param one[2] = {g.options[i]->param, {0}};
        param_defaults(one, config);
    }
    opterr = 0;
    optind = 1;
    while ((value = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
        char shown[3] = {'-', (char)optopt, '\0'};
        const char *word = optopt > 0 && optopt < 256 ? shown : argv[optind - 1];
        if (value == 'h') {
            cli_print_help(usage);
            return CLI_HELP_SHOWN;
        }
        if (value == ':') {
            fprintf(stderr, "sluice: %s: option '%s' needs a value\n", usage->command,
                    argv[optind - 1]);
            return -64;
        }
        if (value == '?')
            return unknown(usage, &g, word);
        int result = set_option(find(&g, value), config, optarg);
        if (result != 0)
            return result;
    }
    return optind;
}

static void print_option(const struct cli_option *option)
{
    char left[64];
    const struct param *p = &option->param;
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, p->name, option->value_name ? " " : "",
             option->value_name ? option->value_name : "");
    fprintf(cli_stdout, "%-32s %s", left, p->help);
    if (p->choices) {
        struct text allowed = {0};
        param_print_allowed(p, &allowed);
        fprintf(cli_stdout, " (%s)", text_string(&allowed));
        text_finish(&allowed);
    }
    if (p->fallback && p->type != PARAM_FLAG)
        fprintf(cli_stdout, " [%s]", p->fallback);
    putc('\n', cli_stdout);
}

void cli_print_help(const struct cli_usage *usage)
{
    fprintf(cli_stdout, "usage: sluice %s %s\n\n%s\n", usage->command, usage->operands,
            usage->summary);
    for (int t = 0; t < CLI_TABLES_MAX && usage->tables[t]; t++) {
        fputs(t == 0 ? "\noptions:\n" : "", cli_stdout);
        for (const struct cli_option *o = usage->tables[t]; o->param.name; o++)
            print_option(o);
    }
    fprintf(cli_stdout, "%-32s %s\n", "  -h, --help", "this text");
    if (usage->details)
        fprintf(cli_stdout, "\n%s", usage->details);
}
