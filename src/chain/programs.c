#include "chain/programs.h"

#include <stdlib.h>
#include <string.h>

#include "chain/plan_internal.h"
#include "chain/source.h"

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_MEMORY, "no memory for a plan's programs");
}

/* Makes one program of all the plan's kernels, or of one pass. */
static int add_program(struct plan_programs *programs, const struct plan *plan,
                       struct device *device, enum program_use use, bool *found,
                       const struct device_kernel **kernels, struct fault *fault)
{
    struct program_source source;
    struct device_program *program = NULL;
    int result = program_source_create(&source, plan, fault);
    if (result != 0)
        return result;
    result = device_program_get_as(device, text_string(&source.text), use, &program, fault);
    *found = program != NULL;
    if (program)
        programs->programs[programs->n_programs++] = program;
    for (size_t i = 0; i < source.n_kernels && program && result == 0; i++)
        result = device_program_kernel(program, source.names[i], &kernels[i], fault);
    program_source_finish(&source);
    return result;
}

static bool same_kernel(const struct pass *a, const struct pass *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->name, b->name) == 0 &&
           a->lanes == b->lanes && strcmp(a->defines, b->defines) == 0;
}

/* Makes a program for each kernel, with the kernel named as its pass is. */
static int add_each(struct plan_programs *programs, const struct pass **passes, size_t count,
                    struct device *device, enum program_use use, bool *found, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0 && *found; i++) {
        size_t same = 0;
        while (!same_kernel(passes[same], passes[i]))
            same++;
        if (same < i) {
            programs->kernels[i] = programs->kernels[same];
            continue;
        }
        struct pass copy = *passes[i];
        struct plan_step step = {.work = {.n_passes = 1, .passes = &copy}};
        struct plan single = {.n_steps = 1, .steps = &step};
        result = add_program(programs, &single, device, use, found, &programs->kernels[i], fault);
    }
    return result;
}

/* Describes a part of a fused pass for the device; fuse_lines.c has added the arguments. */
static struct device_part describe_part(const struct fused *fused, unsigned index)
{
    const struct pass *pass = &fused->parts[index];
    struct device_part part = {.hash = pass_hash(pass),
                               .name = pass->name,
                               .line_in = -1,
                               .line_out = -1,
                               .ring = pass->ring};
    for (unsigned i = 0; i < pass->n_args; i++) {
        bool is_plane = pass->args[i].kind == PASS_PLANE;
        if (is_plane && pass->args[i].operand == OPERAND_IN && index > 0)
            part.line_in = (int)part.n_args;
        if (is_plane && pass->args[i].operand == OPERAND_OUT && index + 1 < fused->n_parts)
            part.line_out = (int)part.n_args;
        part.n_args += is_plane ? 3 : 1;
    }
    return part;
}

static int join_rows(struct plan_programs *programs, const struct pass *pass, struct device *device,
                     const struct device_kernel **kernel, struct fault *fault)
{
    const struct fused *fused = pass->fused;
    struct device_program *program = NULL;
    struct device_part *parts = calloc(fused->n_parts, sizeof *parts);
    if (!parts)
        return no_memory(fault);
    for (unsigned i = 0; i < fused->n_parts; i++)
        parts[i] = describe_part(fused, i);
    int result = device_rows_create(device, parts, fused->n_parts, pass->name, &program, fault);
    if (result == 0) {
        programs->programs[programs->n_programs++] = program;
        result = device_program_kernel(program, pass->name, kernel, fault);
    }
    free(parts);
    return result;
}

static int find_each(struct plan_programs *programs, const struct pass **passes, size_t count,
                     struct device *device, struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = passes[i]->fused
                     ? join_rows(programs, passes[i], device, &programs->kernels[i], fault)
                     : device_kernel_find(device, pass_hash(passes[i]), passes[i]->name,
                                          &programs->kernels[i], fault);
    return result;
}

int plan_programs_get(struct plan_programs *programs, const struct plan *plan,
                      struct device *device, enum program_use use, bool *found, struct fault *fault)
{
    size_t count = plan_count_passes(plan), n = 0;
    *found = true;
    *programs = (struct plan_programs){
        .programs = calloc(count + 1, sizeof *programs->programs),
        .kernels = calloc(count + 1, sizeof *programs->kernels),
    };
    const struct pass **passes = calloc(count + 1, sizeof *passes);
    int result = programs->programs && programs->kernels && passes ? 0 : no_memory(fault);
    for (size_t i = 0; i < plan->n_steps && result == 0; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            passes[n++] = &plan->steps[i].work.passes[p];
    if (result == 0 && plan->profile->prebuilt)
        result = find_each(programs, passes, count, device, fault);
    else if (result == 0 && plan->profile->generic)
        result = add_each(programs, passes, count, device, use, found, fault);
    else if (result == 0 && count > 0)
        result = add_program(programs, plan, device, use, found, programs->kernels, fault);
    free(passes);
    return result;
}

void plan_programs_put(struct plan_programs *programs, struct device *device)
{
    for (size_t i = 0; i < programs->n_programs; i++)
        device_program_put(device, &programs->programs[i]);
    free(programs->programs);
    free(programs->kernels);
    *programs = (struct plan_programs){0};
}

int plan_programs_store(const struct plan_programs *programs, struct device *device,
                        struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < programs->n_programs && result == 0; i++)
        result = device_program_store(device, programs->programs[i], fault);
    return result;
}
