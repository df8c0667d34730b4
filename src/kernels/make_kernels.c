/* make_kernels FOLDER LEVEL…: a program that the build runs. For each stage it writes NAME.cl into
 * FOLDER, an OpenCL C text with all kernels of the stage in rows form as functions; and
 * native_table.c, the table of these functions for all levels, with what calls them
 * (device/native/kernels.h). In front of the texts stand native_types.h, which it writes, too, and
 * cl/native.h.
 *
 * walk.c plans the chains that stages declare, and every pass of these plans gets a kernel. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "chain/source.h"
#include "kernels/walk.h"

struct kernel {
    uint64_t hash; /* pass_hash of the passes that it is for */
    char name[PASS_NAME_MAX + 12];
    unsigned span;
    char args[3 * PASS_ARGS_MAX + 1]; /* a member of union native_arg for each */
};

struct texts {
    size_t n;
    struct kernel *kernels;
    struct program_text *of_stage; /* in the order of the registry */
    int status;
};

static int fail(struct texts *texts, const char *what)
{
    fprintf(stderr, "make_kernels: %s\n", what);
    texts->status = 1;
    return 1;
}

static void list_args(struct kernel *kernel, const struct pass *pass)
{
    static const char *const members[] = {
        [PASS_PLANE] = "pii", [PASS_BUFFER] = "p", [PASS_TABLE] = "p", [PASS_INT] = "i",
        [PASS_UINT] = "u",    [PASS_FLOAT] = "f",  [PASS_LONG] = "l",  [PASS_DOUBLE] = "d"};
    kernel->args[0] = '\0';
    for (unsigned i = 0; i < pass->n_args; i++)
        strcat(kernel->args, members[pass->args[i].kind]);
}

/* A walk_found: adds the pass's kernel to its stage's text, unless it has it. */
static void add_pass(void *texts_, const struct stage *stage, const struct pass *pass)
{
    struct texts *texts = texts_;
    struct fault fault = FAULT_INIT;
    uint64_t hash = pass_hash(pass);
    if (texts->status != 0)
        return;
    for (size_t i = 0; i < texts->n; i++)
        if (texts->kernels[i].hash == hash)
            return;
    if ((texts->n & (texts->n - 1)) == 0) { /* there is room for the next power of two */
        void *grown = realloc(texts->kernels, (2 * texts->n + 1) * sizeof *texts->kernels);
        if (!grown) {
            fail(texts, "out of memory");
            return;
        }
        texts->kernels = grown;
    }
    struct kernel *kernel = &texts->kernels[texts->n++];
    size_t index = 0;
    while (stage_registry[index] != stage)
        index++;
    struct program_text *text = &texts->of_stage[index];
    kernel->hash = hash;
    kernel->span = pass->span;
    list_args(kernel, pass);
    /* not a number, so that a stage's text stays what it was when another one has a kernel more */
    snprintf(kernel->name, sizeof kernel->name, "%s_%08" PRIx32, pass->name, (uint32_t)hash);
    text_printf(&text->kernels, "\n#define %s NATIVE_NAME(%s)\n", kernel->name, kernel->name);
    if (program_text_add(text, pass, kernel->name, &fault) != 0)
        fail(texts, fault.text);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct kernel *)a)->hash, y = ((const struct kernel *)b)->hash;
    return (x > y) - (x < y);
}

/* The native_caller of kernels with such arguments, unless one of those in front has it. */
static void make_caller(const struct texts *texts, size_t index, struct text *table)
{
    const char *args = texts->kernels[index].args;
    for (size_t i = 0; i < index; i++)
        if (strcmp(texts->kernels[i].args, args) == 0)
            return;
    text_printf(table,
                "\nstatic void call_%s(const struct native_function *function, "
                "const union native_arg *a,\n"
                "    int item, int item_end, int row, int row_end)\n{\n"
                "    void (*kernel)(int, int, int, int, int",
                args);
    for (const char *arg = args; *arg; arg++)
        text_printf(table, ", %s",
                    *arg == 'p'   ? "void *"
                    : *arg == 'u' ? "uint32_t"
                    : *arg == 'l' ? "int64_t"
                    : *arg == 'f' ? "float"
                    : *arg == 'd' ? "double"
                                  : "int");
    text_append(table, ") = (void *)function->code;\n"
                       "    for (int y = row; y < row_end; y++)\n"
                       "        for (int x = item; x < item_end; x++)\n"
                       "            kernel(a[0].i, y, y + 1, x * function->span, a[1].i");
    for (unsigned i = 0; args[i]; i++)
        text_printf(table, ", a[%u].%c", i + 2, args[i]);
    text_append(table, ");\n}\n");
}

static void make_table(const struct texts *texts, char **levels, int n_levels, struct text *table)
{
    text_append(table, "/* Made by src/kernels/make_kernels.c. */\n"
                       "#include \"device/native/kernels.h\"\n\n");
    for (int l = 0; l < n_levels; l++)
        for (size_t i = 0; i < texts->n; i++)
            text_printf(table, "native_code %s_%s;\n", texts->kernels[i].name, levels[l]);
    for (size_t i = 0; i < texts->n; i++)
        make_caller(texts, i, table);
    text_append(table, "\nconst struct native_entry native_entries[] = {\n");
    for (size_t i = 0; i < texts->n; i++) {
        const struct kernel *kernel = &texts->kernels[i];
        int length = (int)(strrchr(kernel->name, '_') - kernel->name);
        text_printf(table, "    {0x%016" PRIx64 ", \"%.*s\", call_%s, %u, {", kernel->hash, length,
                    kernel->name, kernel->args, kernel->span);
        for (int l = 0; l < n_levels; l++)
            text_printf(table, "%s%s_%s", l ? ", " : "", kernel->name, levels[l]);
        text_append(table, "}},\n");
    }
    text_printf(table, "};\nconst size_t native_n_entries = %zu;\n", texts->n);
    text_append(table, "\nconst char *const native_levels[NATIVE_LEVELS_MAX + 1] = {");
    for (int l = 0; l < n_levels; l++)
        text_printf(table, "\"%s\", ", levels[l]);
    text_append(table, "NULL};\n");
}

/* A file that has this text already is not written, so that Clang need not run again. */
static int write_file(struct texts *texts, const char *folder, const char *name, struct text *text)
{
    char path[4096];
    struct bytes there = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_same = !text->failed && fd >= 0 && file_read(fd, SIZE_MAX >> 1, &there, NULL) == 0 &&
                   there.size == text->length && memcmp(there.data, text->data, there.size) == 0;
    file_close(&fd);
    bytes_finish(&there);
    if (is_same)
        return 0;
    FILE *file = fopen(path, "w");
    if (!file)
        return fail(texts, path);
    fputs(text_string(text), file);
    if (ferror(file) | fclose(file) || text->failed)
        return fail(texts, path);
    return 0;
}

/* OpenCL C's conversions, and what it calls the same bits as another type. */
static void make_types(struct text *text)
{
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int",
                                        "uint", "long",  "ulong", "float",  "double"};
    static const char *const lanes[] = {"", "2", "4", "8", "16", "32", "64"};
    text_append(text, "/* Made by src/kernels/make_kernels.c. */\n");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t n = 0; n < sizeof lanes / sizeof *lanes; n++) {
            text_printf(text, "#define as_%s%s(v) __builtin_astype(v, %s%s)\n", types[t], lanes[n],
                        types[t], lanes[n]);
            text_printf(text, "#define convert_%s%s(v) ", types[t], lanes[n]);
            text_printf(text, n == 0 ? "((%s%s)(v))\n" : "__builtin_convertvector(v, %s%s)\n",
                        types[t], lanes[n]);
        }
}

int main(int argc, char **argv)
{
    struct texts texts = {0};
    struct text table = {0}, native_types = {0};
    size_t n_stages = 0;
    if (argc < 3)
        return fail(&texts, "make_kernels FOLDER LEVEL…");
    while (stage_registry[n_stages])
        n_stages++;
    texts.of_stage = calloc(n_stages, sizeof *texts.of_stage);
    struct fault fault = FAULT_INIT;
    if (!texts.of_stage)
        return fail(&texts, "out of memory");
    if (walk_plans(device_profile_by_name("native"), add_pass, &texts, &fault) != 0)
        return fail(&texts, fault.text);
    for (size_t i = 0; i < n_stages; i++) {
        char name[64];
        struct text whole = {0};
        program_text_join(&texts.of_stage[i], &whole);
        snprintf(name, sizeof name, "%s.cl", stage_registry[i]->name);
        write_file(&texts, argv[1], name, &whole);
        text_finish(&whole);
    }
    qsort(texts.kernels, texts.n, sizeof *texts.kernels, compare);
    make_table(&texts, argv + 2, argc - 2, &table);
    write_file(&texts, argv[1], "native_table.c", &table);
    make_types(&native_types);
    write_file(&texts, argv[1], "native_types.h", &native_types);
    text_finish(&native_types);
    text_finish(&table);
    free(texts.of_stage);
    free(texts.kernels);
    return texts.status;
}
