#include "chain/source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/plan_internal.h"

size_t plan_count_passes(const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->n_steps; i++)
        count += plan->steps[i].work.n_passes;
    return count;
}

/* What a line of a template asks for: '"' for a file in its place (#include "NAME.cl"), '<' for a
 * part of the prelude (#include <NAME.cl>), 0 for nothing. */
static char included(const char *line, char name[64])
{
    size_t length = strlen("#include ");
    if (strncmp(line, "#include ", length) != 0 || (line[length] != '"' && line[length] != '<'))
        return 0;
    snprintf(name, 64, "%.*s", (int)strcspn(line + length + 1, ".\">\n"), line + length + 1);
    return line[length];
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* A template's sections: the lines behind `#pragma kernel count merge` are for these kernels of the
 * file alone, those behind `#pragma form ROWS` for this form alone, up to the next such line, which
 * may name none: for all. */
struct sections {
    bool other_kernel, other_form;
};

/* Whether one of the names that such a line has behind its `length` first characters is defined, with
 * `prefix` in front, or it names none. `unnamed` is the kernel of a pass that chooses none. */
static bool is_for(const char *line, size_t length, const char *prefix, const char *defines)
{
    const char *name = line + length;
    bool any = name[strspn(name, " ")] != '\n', found = !any;
    while (!found && *(name += strspn(name, " ")) != '\n') {
        char definition[80];
        int n = (int)strcspn(name, " \n");
        snprintf(definition, sizeof definition, "%s%.*s 1\n", prefix, n, name);
        found = strstr(defines, definition) ||
                (strncmp(name, "unnamed", 7) == 0 && !strstr(defines, prefix));
        name += n;
    }
    return found;
}

/* Whether a line begins a section, which then is the one that `sections` tells of. */
static bool begin_section(struct sections *sections, const char *line, const char *defines)
{
    const size_t kernel = strlen("#pragma kernel"), form = strlen("#pragma form");
    if (strncmp(line, "#pragma kernel", kernel) == 0)
        *sections = (struct sections){.other_kernel = !is_for(line, kernel, "KERNEL_", defines)};
    else if (strncmp(line, "#pragma form", form) == 0)
        sections->other_form = !is_for(line, form, "FORM_", defines);
    else
        return false;
    return true;
}

static bool is_taken(const struct sections *sections)
{
    return !sections->other_kernel && !sections->other_form;
}

static bool add_file(struct program_text *program, struct text *text, const char *name,
                     const char *defines);

/* Adds a part of the prelude behind those that it needs, unless the program has it. */
static bool add_part(struct program_text *program, const char *name)
{
    char begin[80];
    struct text part = {0};
    snprintf(begin, sizeof begin, "#line 1 \"%s.cl\"\n", name);
    if (strstr(text_string(&program->prelude), begin))
        return true;
    bool found = add_file(program, &part, name, "");
    text_append(&program->prelude, text_string(&part));
    program->prelude.failed |= part.failed;
    text_finish(&part);
    return found;
}

/* Adds a file with what it includes, but without what is for other kernels and forms; false: there is none. */
static bool add_file(struct program_text *program, struct text *text, const char *name,
                     const char *defines)
{
    const char *line = stage_source(name);
    unsigned number = 1;
    struct sections sections = {0};
    bool found = line != NULL;
    text_printf(text, "#line 1 \"%s.cl\"\n", name);
    for (; found && *line; line = next_line(line), number++) {
        char other[64];
        char kind = included(line, other);
        if (begin_section(&sections, line, defines)) {
            if (is_taken(&sections))
                text_printf(text, "#line %u \"%s.cl\"\n", number + 1, name);
        } else if (!is_taken(&sections)) {
            continue;
        } else if (kind == 0) {
            text_append_bytes(text, line, (size_t)(next_line(line) - line));
        } else if (kind == '<') {
            found = add_part(program, other);
            text_append(text, "\n");
        } else {
            found = add_file(program, text, other, defines);
            text_printf(text, "#line %u \"%s.cl\"\n", number + 1, name);
        }
    }
    return found;
}

/* Undefines every macro that a file, or what stands in it, defines with #define at the beginning of
 * a line. */
static void undefine_all(struct text *text, const char *file, const char *defines)
{
    struct sections sections = {0};
    for (const char *line = stage_source(file); *line; line = next_line(line)) {
        char other[64];
        bool taken = !begin_section(&sections, line, defines) && is_taken(&sections);
        if (taken && included(line, other) == '"')
            undefine_all(text, other, defines);
        if (!taken || strncmp(line, "#define ", 8) != 0)
            continue;
        const char *name = line + 8;
        int length = 0;
        while (isalnum((unsigned char)name[length]) || name[length] == '_')
            length++;
        text_printf(text, "#undef %.*s\n", length, name);
    }
}

static void define_all(struct text *text, const char *defines)
{
    for (const char *line = defines; *line;) {
        int length = (int)strcspn(line, "\n");
        text_printf(text, "#define %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

static void undefine_pass(struct text *text, const char *defines)
{
    for (const char *line = defines; *line;) {
        text_append(text, "#undef ");
        text_append_bytes(text, line, strcspn(line, " (\n"));
        text_append(text, "\n");
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

/* Finds name `index` of those that PIXEL_SOURCE has among the definitions, with commas between
 * them; false: there are no more. */
static bool pixel_source(const char *defines, unsigned index, char *name, size_t size)
{
    const char *at = strstr(defines, "PIXEL_SOURCE ");
    if (!at)
        return false;
    at += strlen("PIXEL_SOURCE ");
    for (; index > 0; index--) {
        at += strcspn(at, ",\n");
        if (*at++ != ',')
            return false;
    }
    snprintf(name, size, "%.*s", (int)strcspn(at, ",\n"), at);
    return true;
}

/* Adds the parts of a fused kernel, as functions named after it. */
static int add_parts(struct program_text *program, const struct fused *fused, const char *name,
                     struct fault *fault)
{
    int result = 0;
    for (unsigned i = 0; fused && i < fused->n_parts && result == 0; i++) {
        struct text part = {0};
        text_printf(&part, "%s_f%u", name, i);
        result = program_text_add(program, &fused->parts[i], text_string(&part), fault);
        text_finish(&part);
    }
    return result;
}

int program_text_add(struct program_text *program, const struct pass *pass, const char *name,
                     struct fault *fault)
{
    char pixel[64];
    struct text *text = &program->kernels;
    int result = add_parts(program, pass->fused, name, fault);
    if (result != 0 || (pass->fused && pass->fused->by_rows))
        return result;
    if (program->prelude.length == 0)
        add_file(program, &program->prelude, "prelude", "");
    const char *more = pass->fused ? text_string(&pass->fused->defines) : "";
    text_append(text, text_string(&program->undone));
    text_finish(&program->undone);
    text_printf(text, "\n#define KERNEL %s\n#define FN(name) %s_##name\n", name, name);
    if (pass->lanes > 0)
        text_printf(text, "#define LANES %u\n#define FIRST(v) (v).s0\n", pass->lanes);
    else
        text_append(text, "#define LANES\n#define FIRST(v) (v)\n");
    define_all(text, pass->defines);
    define_all(text, more);
    if (!strstr(pass->defines, "NUMBERS "))
        text_append(text, "#define NUMBERS\n#define GIVEN\n");
    bool has_then = pass->fused && pass->fused->has_then, found = true;
    if (!has_then)
        text_append(text, "#define OUT DST\n#define THEN(v) (v)\n#define THEN_PARAMETERS\n"
                          "#define THEN_WORD(w) (w)\n");
    for (unsigned i = 0; found && pixel_source(pass->defines, i, pixel, sizeof pixel); i++)
        found = add_file(program, text, pixel, pass->defines);
    if (!found || !add_file(program, text, pass->source, pass->defines))
        return fault_set(fault, FAULT_INTERNAL, "stage %s has no kernel source", pass->stage);
    struct text *undone = &program->undone; /* before the next kernel */
    undefine_all(undone, pass->source, pass->defines);
    for (unsigned i = 0; pixel_source(pass->defines, i, pixel, sizeof pixel); i++)
        undefine_all(undone, pixel, pass->defines);
    undefine_pass(undone, pass->defines);
    undefine_pass(undone, more);
    if (!has_then)
        undefine_pass(undone, "OUT \nTHEN(v) \nTHEN_PARAMETERS \nTHEN_WORD(w) \n");
    undefine_pass(undone, "KERNEL \nFN \nLANES \nFIRST \nNUMBERS \nGIVEN \n");
    return 0;
}

void program_text_join(struct program_text *program, struct text *text)
{
    *text = program->prelude;
    text_append_bytes(text, text_string(&program->kernels), program->kernels.length);
    text->failed |= program->kernels.failed;
    text_finish(&program->kernels);
    text_finish(&program->undone);
    *program = (struct program_text){0};
}

static bool same_instance(const struct pass *a, const struct pass *b)
{
    const struct fused *of_a = a->fused, *of_b = b->fused;
    bool same = strcmp(a->source, b->source) == 0 && strcmp(a->name, b->name) == 0 &&
                a->lanes == b->lanes && strcmp(a->defines, b->defines) == 0 && a->ring == b->ring;
    if (!same || !of_a || !of_b)
        return same && of_a == of_b;
    same = of_a->n_parts == of_b->n_parts &&
           strcmp(text_string(&of_a->defines), text_string(&of_b->defines)) == 0;
    for (unsigned i = 0; same && i < of_a->n_parts; i++)
        same = same_instance(&of_a->parts[i], &of_b->parts[i]);
    return same;
}

static const struct pass *pass_at(const struct plan *plan, size_t index)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (index < plan->steps[i].work.n_passes)
            return &plan->steps[i].work.passes[index];
        index -= plan->steps[i].work.n_passes;
    }
    return NULL;
}

/* Names the kernel. A number tells it apart from another instance with the same name. */
static void name_kernel(struct program_source *source, const struct plan *plan, size_t index)
{
    const struct pass *pass = pass_at(plan, index);
    int namesakes = 0;
    for (size_t i = 0; i < index; i++) {
        const struct pass *other = pass_at(plan, i);
        if (same_instance(pass, other)) {
            memcpy(source->names[index], source->names[i], sizeof source->names[i]);
            return;
        }
        namesakes += strcmp(pass->name, other->name) == 0;
    }
    if (namesakes)
        snprintf(source->names[index], sizeof source->names[index], "%s_%d", pass->name,
                 namesakes + 1);
    else
        snprintf(source->names[index], sizeof source->names[index], "%s", pass->name);
}

int program_source_create(struct program_source *source, const struct plan *plan,
                          struct fault *fault)
{
    size_t count = plan_count_passes(plan);
    *source = (struct program_source){.n_kernels = count,
                                      .names = calloc(count + 1, sizeof *source->names)};
    if (!source->names)
        return fault_set(fault, FAULT_MEMORY, "no memory for a program");
    struct program_text program = {0};
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        name_kernel(source, plan, i);
        bool known = false;
        for (size_t k = 0; k < i && !known; k++)
            known = strcmp(source->names[k], source->names[i]) == 0;
        if (!known)
            result = program_text_add(&program, pass_at(plan, i), source->names[i], fault);
    }
    program_text_join(&program, &source->text);
    if (result == 0 && source->text.failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a program");
    if (result != 0)
        program_source_finish(source);
    return result;
}

void program_source_finish(struct program_source *source)
{
    text_finish(&source->text);
    free(source->names);
    *source = (struct program_source){0};
}
