/* test_texts CLANG: what OpenCL's compilers on Mali and on other GPUs are given is without an
 * error.
 *
 * walk.c plans the chains that stages declare, for every type, number of channels and border that
 * native is built for, here for the profiles mali and gpu, generic and not. Each kernel of these
 * plans is in its stage's text once, and Clang's front end reads that: tests that run kernels on a
 * processor have time for a sample of these forms. It knows no driver's limits, and generates
 * nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/source.h"
#include "kernels/walk.h"

#define SEEN_SLOTS 65536

struct texts {
    uint64_t seen[SEEN_SLOTS]; /* pass_hash of each kernel; 0: a free place */
    size_t n;
    struct program_text *of_stage; /* in the order of the registry */
    struct fault fault;
};

static bool note(struct texts *texts, uint64_t hash)
{
    size_t at = hash % SEEN_SLOTS;
    while (texts->seen[at] != 0 && texts->seen[at] != hash)
        at = (at + 1) % SEEN_SLOTS;
    bool found = texts->seen[at] == hash;
    texts->seen[at] = hash;
    texts->n += !found;
    if (texts->n > SEEN_SLOTS / 2)
        abort();
    return !found;
}

/* A walk_found. */
static void add_pass(void *texts_, const struct stage *stage, const struct pass *pass)
{
    struct texts *texts = texts_;
    char name[PASS_NAME_MAX + 24];
    size_t index = 0;
    if (texts->fault.code != 0 || !note(texts, pass_hash(pass)))
        return;
    while (stage_registry[index] != stage)
        index++;
    snprintf(name, sizeof name, "%s_%zu", pass->name, texts->n);
    program_text_add(&texts->of_stage[index], pass, name, &texts->fault);
}

/* Whether Clang finds nothing in the text; what it finds it says. */
static bool is_read(const char *clang, const char *stage, const struct text *text)
{
    char command[4096];
    snprintf(
        command, sizeof command,
        "%s -fsyntax-only -x cl -cl-std=CL1.2 --target=spir64 -Xclang -finclude-default-header "
        "-Xclang -fdeclare-opencl-builtins -Werror -Wall -Wno-unused "
        "-Wno-constant-logical-operand -ferror-limit=5 -",
        clang);
    FILE *compiler = popen(command, "w");
    if (!compiler)
        return false;
    fwrite(text->data, 1, text->length, compiler);
    bool read = pclose(compiler) == 0;
    if (!read)
        fprintf(stderr, "stage %s: its kernels for mali or gpu do not compile\n", stage);
    return read;
}

/* Adds the kernels of a class; with generic plans, that have others than plans of one chain. */
static int add_class(struct texts *texts, const char *name, bool generic)
{
    struct device_profile profile = *device_profile_by_name(name);
    profile.generic = generic;
    profile.has_fp64 = true; /* as some of the class have */
    if (texts->fault.code == 0)
        walk_plans(&profile, add_pass, texts, &texts->fault);
    if (texts->fault.code != 0)
        fprintf(stderr, "%s: %s\n", name, texts->fault.text);
    return texts->fault.code != 0;
}

int main(int argc, char **argv)
{
    static struct texts texts;
    size_t n_stages = 0;
    int failed = 0;
    while (stage_registry[n_stages])
        n_stages++;
    texts.of_stage = calloc(n_stages, sizeof *texts.of_stage);
    /* Generic plans for other GPUs add 2 % to these. */
    if (argc != 2 || !texts.of_stage || add_class(&texts, "mali", false) ||
        add_class(&texts, "mali", true) || add_class(&texts, "gpu", false))
        return 1;
    for (size_t i = 0; i < n_stages; i++) {
        struct text text = {0};
        program_text_join(&texts.of_stage[i], &text);
        if (text.failed || (text.length > 0 && !is_read(argv[1], stage_registry[i]->name, &text)))
            failed++;
        text_finish(&text);
    }
    printf("%zu kernels; %d stages with errors\n", texts.n, failed);
    free(texts.of_stage);
    return failed > 0;
}
