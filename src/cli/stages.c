/* sluice stages: prints the tables of stages and parameters. */
#include <string.h>

#include "chain/tried.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "worker/describe.h"

struct stages_options {
    struct common_options common;
};

static const struct options_usage usage = {
    .program = "sluice",
    .command = "stages",
    .operands = "[NAME…]",
    .summary = "Prints every stage, or those named, with their parameters.",
    .tables = {cli_output_options},
};

static void print_param(const struct param *param)
{
    struct text allowed = {0};
    param_print_allowed(param, &allowed);
    fprintf(cli_stdout, "  %-10s %s\n             %s", param->name, param->help,
            text_string(&allowed));
    if (param->fallback)
        fprintf(cli_stdout, "; default %s", param->fallback);
    if (param->required)
        fputs("; required", cli_stdout);
    fputc('\n', cli_stdout);
    text_finish(&allowed);
}

static void print_stage(const struct stage *stage)
{
    fprintf(cli_stdout, "%s: %s\n", stage->name, stage->summary);
    for (const struct param *p = stage->params; p && p->name; p++)
        print_param(p);
}

static int unknown(const char *name)
{
    struct text says = {0};
    tried_explain(name, strlen(name), &says);
    fprintf(stderr, "sluice: stages: %s\n", text_string(&says));
    text_finish(&says);
    return 64;
}

int command_stages(int argc, char **argv)
{
    struct stages_options o = {0};
    int first = options_parse(&usage, &o, argc, argv, cli_stdout);
    if (first < 0)
        return first == OPTIONS_HELP_SHOWN ? 0 : -first;
    for (int i = first; i < argc; i++) {
        const struct stage *stage = stage_find(argv[i], strlen(argv[i]));
        if (!stage || stage->internal)
            return unknown(argv[i]);
    }
    json_t *list = o.common.json ? json_array() : NULL;
    bool any = false;
    for (const struct stage *const *s = stage_registry; *s; s++) {
        bool wanted = first == argc && !(*s)->internal;
        for (int i = first; i < argc; i++)
            wanted |= strcmp(argv[i], (*s)->name) == 0;
        if (!wanted)
            continue;
        if (o.common.json) {
            json_array_append_new(list, describe_stage(*s));
        } else {
            fputs(any ? "\n" : "", cli_stdout);
            print_stage(*s);
        }
        any = true;
    }
    if (o.common.json)
        cli_print_json(list);
    return 0;
}
