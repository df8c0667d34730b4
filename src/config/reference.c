#include "config/settings.h"

#include <string.h>

/* In a table | would end the cell. */
static void print_cell(struct text *text, const char *cell)
{
    for (; *cell; cell++) {
        if (*cell == '|')
            text_append(text, "\\");
        text_append_bytes(text, cell, 1);
    }
}

static void print_allowed(struct text *text, const struct setting *setting)
{
    const struct param *param = &setting->param;
    struct text allowed = {0};
    if (setting->allowed)
        text_append(&allowed, setting->allowed);
    else if (param->type == PARAM_FLAG)
        text_append(&allowed, "true or false");
    else if (param->choices && param->type == PARAM_CHOICE)
        for (const struct param_choice *c = param->choices; c->name; c++)
            text_printf(&allowed, "%s`%s`", c == param->choices ? "" : ", ", c->name);
    else
        param_print_allowed(param, &allowed);
    print_cell(text, text_string(&allowed));
    text_finish(&allowed);
}

static void print_default(struct text *text, const struct param *param)
{
    if (param->required)
        text_append(text, "required");
    else if (param->fallback && param->type == PARAM_FLAG)
        text_printf(text, "`%s`", strcmp(param->fallback, "1") == 0 ? "true" : "false");
    else if (param->fallback)
        text_printf(text, "`%s`", param->fallback);
}

static void print_section(struct text *text, const struct settings_section *section)
{
    char variable[SETTINGS_VARIABLE_MAX];
    bool top = !section->name[0];
    text_printf(text,
                "### %s%s%s\n\n%s.\n\n| key | value | default | environment | option | |\n"
                "|---|---|---|---|---|---|\n",
                top ? "" : "`", top ? "Top level" : section->name, top ? "" : "`", section->help);
    for (const struct setting *s = section->table; s->param.name; s++) {
        text_printf(text, "| `%s` | ", s->param.name);
        print_allowed(text, s);
        text_append(text, " | ");
        print_default(text, &s->param);
        text_printf(text, " | `%s` | %s%s%s | ", setting_variable(section, s, variable),
                    s->option ? "`--" : "", s->option ? s->option : "", s->option ? "`" : "");
        print_cell(text, s->param.help);
        text_append(text, " |\n");
    }
    text_append(text, "\n");
}

void settings_print_reference(struct text *text)
{
    for (const struct settings_section *s = settings_sections; s->name; s++)
        print_section(text, s);
    print_section(text, &settings_watch);
}
