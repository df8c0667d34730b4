#include "programs.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "chain/source.h"
#include "stage/stage.h"

#define PROGRAMS_MAX 8192       /* what comes after the last is run */
#define CHOICES_MAX  128        /* of one pass */
#define PAIRS_MAX    (1u << 20) /* more than any stage has; a power of two */

static struct program {
    uint64_t text;   /* hash of its source */
    uint64_t *pairs; /* hashes of two of its choices each */
    size_t n_pairs;
    bool runs;
    unsigned turns; /* how often the test had it to run */
} programs[PROGRAMS_MAX];
static size_t n_programs;
static bool none_left_out;

/* ---- choices ---- */

/* Whether a line of the template, or of a file that stands in it, asks for the definition's value
 * (#if) or makes a name of it (CAT). Other numbers are constants of one and the same code. */
static bool is_asked_in(const char *file, const char *name, size_t length)
{
    const char *content = stage_source(file), *line = content;
    for (const char *at = content; at && (at = strstr(at, name)); at += length) {
        for (const char *next; (next = strchr(line, '\n')) && next < at;)
            line = next + 1;
        size_t before = (size_t)(at - line);
        bool asks = strncmp(line, "#if", 3) == 0 || strncmp(line, "#elif", 5) == 0 ||
                    memmem(line, before, "CAT", 3);
        if (asks && !isalnum((unsigned char)at[length]) && at[length] != '_' &&
            !isalnum((unsigned char)at[-1]) && at[-1] != '_')
            return true;
    }
    char other[64];
    for (const char *at = content; at && (at = strstr(at, "#include \"")); at++)
        if (sscanf(at, "#include \"%63[a-z_]", other) == 1 && is_asked_in(other, name, length))
            return true;
    return false;
}

static bool is_asked(const struct pass *pass, const char *name)
{
    char pixels[64] = "", *next = pixels, *pixel;
    const char *at = strstr(pass->defines, "PIXEL_SOURCE ");
    bool asked = is_asked_in(pass->source, name, strlen(name));
    if (at)
        sscanf(at, "PIXEL_SOURCE %63s", pixels);
    while (at && !asked && (pixel = strsep(&next, ",")))
        asked = is_asked_in(pixel, name, strlen(name));
    return asked;
}

/* A definition as a choice. Large numbers and long texts are a stage's coefficients and what is
 * computed with them, and other numbers the constants of a loop: that there are some is the choice,
 * not which ones, unless the template asks. */
static uint64_t choice_of(const struct pass *pass, const char *define, size_t length)
{
    const char *value = memchr(define, ' ', length);
    size_t name = value ? (size_t)(value - define) : length, rest = length - name;
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(define, " (\n"), define);
    bool is_number = value && (isdigit((unsigned char)value[1]) || strchr("-(.", value[1]));
    if (rest > (is_number ? 3 : 17) ||
        (is_number && strcmp(text, "SPAN") != 0 && !is_asked(pass, text)))
        rest = 0;
    uint64_t hash = hash_bytes(HASH_INIT, define, name);
    for (size_t i = 0; i < rest; i++)
        if (is_number || !isdigit((unsigned char)value[i]))
            hash = hash_bytes(hash, &value[i], 1);
    return hash;
}

static size_t choices_of(const struct pass *pass, uint64_t choices[CHOICES_MAX])
{
    size_t n = 0;
    for (const char *at = pass->defines; *at && n < CHOICES_MAX; n++) {
        size_t length = strcspn(at, "\n");
        choices[n] = choice_of(pass, at, length);
        at += length + (at[length] == '\n');
    }
    return n;
}

/* ---- the list, which a second process of the same test writes ---- */

static void write_pair(FILE *list, uint64_t in, uint64_t a, uint64_t b)
{
    const uint64_t pair[] = {in, a, b};
    fprintf(list, " %llx", (unsigned long long)hash_bytes(HASH_INIT, pair, sizeof pair));
}

/* Each choice with the stage, and in a template each with each other and with the class. Singly: each
 * choice with the template and what it computes of pixels, and the stage with the class. */
static void write_pairs(FILE *list, const struct pass *pass, const struct device_profile *profile,
                        bool singly)
{
    uint64_t choices[CHOICES_MAX];
    size_t n = choices_of(pass, choices);
    uint64_t template = hash_bytes(HASH_INIT, pass->source, strlen(pass->source));
    uint64_t stage = hash_bytes(HASH_INIT, pass->stage, strlen(pass->stage));
    const char *pixels = strstr(pass->defines, "PIXEL_SOURCE ");
    uint64_t computes = hash_bytes(template, pixels, pixels ? strcspn(pixels, "\n") : 0);
    uint64_t class = hash_bytes(HASH_INIT + profile->generic, profile->name, strlen(profile->name));
    write_pair(list, template, class, class);
    write_pair(list, stage, class, class);
    for (size_t i = 0; i < n; i++) {
        write_pair(list, singly ? computes : stage, choices[i], choices[i]);
        for (size_t k = i + 1; k < n && !singly; k++)
            write_pair(list, template, choices[i], choices[k]);
    }
}

/* A line for the program: its hash, and those of its pairs. */
static void write_program(int to, bool singly, uint64_t text, const struct plan *plan)
{
    static FILE *list;
    if (!list && !(list = fdopen(to, "w")))
        abort();
    fprintf(list, "%llx", (unsigned long long)text);
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            write_pairs(list, &plan->steps[i].work.passes[p], plan->profile, singly);
    fputc('\n', list);
    fflush(list);
}

static void read_program(struct program *program, char *line)
{
    char *at = line;
    *program = (struct program){.text = strtoull(at, &at, 16)};
    program->pairs = malloc(strlen(line) / 2 * sizeof *program->pairs);
    if (!program->pairs)
        abort();
    while (*at == ' ')
        program->pairs[program->n_pairs++] = strtoull(at, &at, 16);
}

/* Has a test run to list its programs, under the emulator if this one is; whether it passes is of no interest. */
static void list_programs(const char *test, const char *mode)
{
    extern char **environ;
    char told[32], *line = NULL;
    const char *args[] = {"sh", "-c", "exec $MESON_EXE_WRAPPER \"$0\"", test, NULL};
    size_t size = 0;
    pid_t child;
    posix_spawn_file_actions_t silent;
    FILE *list = tmpfile();
    if (!list)
        abort();
    snprintf(told, sizeof told, "list:%d:%.8s", fileno(list), mode);
    setenv("HARNESS_PROGRAMS", told, 1);
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&silent, 1, 2);
    if (posix_spawn(&child, "/bin/sh", &silent, NULL, (char **)args, environ) != 0 || waitpid(child, NULL, 0) < 0)
        abort();
    posix_spawn_file_actions_destroy(&silent);
    rewind(list);
    while (n_programs < PROGRAMS_MAX && getline(&line, &size, list) > 0)
        read_program(&programs[n_programs++], line);
    free(line);
    fclose(list);
    if (n_programs == 0) {
        fprintf(stderr, "%s lists no programs\n", test);
        abort();
    }
}

static void forget_programs(void)
{
    for (size_t i = 0; i < n_programs; i++)
        free(programs[i].pairs);
    n_programs = 0;
}

/* ---- what is run ---- */

static uint64_t covered[PAIRS_MAX]; /* pairs of programs that run; 0: a free place */

/* The pair's place, or a free one for it. */
static uint64_t *place_of(uint64_t pair)
{
    size_t at = pair % PAIRS_MAX;
    while (covered[at] && covered[at] != pair)
        at = (at + 1) % PAIRS_MAX;
    return &covered[at];
}

static size_t count_new(const struct program *program)
{
    size_t n = 0;
    for (size_t i = 0; i < program->n_pairs; i++)
        n += !*place_of(program->pairs[i]);
    return n;
}

/* Time after time that with the most pairs that no other has, until each pair is covered. */
static void choose_programs(void)
{
    size_t n_covered = 0;
    for (;;) {
        size_t most = 0;
        struct program *best = NULL;
        for (size_t i = 0; i < n_programs; i++) {
            size_t n = programs[i].runs ? 0 : count_new(&programs[i]);
            if (n > most) {
                most = n;
                best = &programs[i];
            }
        }
        if (!best)
            return;
        best->runs = true;
        for (size_t i = 0; i < best->n_pairs; i++)
            *place_of(best->pairs[i]) = best->pairs[i];
        n_covered += most;
        if (n_covered > PAIRS_MAX / 2)
            abort();
    }
}

static struct program *find(uint64_t text)
{
    for (size_t i = 0; i < n_programs; i++)
        if (programs[i].text == text)
            return &programs[i];
    return NULL;
}

/* A new program is listed; none runs. */
static bool list_leaves_out(int to, bool singly, uint64_t text, const struct plan *plan)
{
    if (find(text) || n_programs == PROGRAMS_MAX)
        return true;
    programs[n_programs++].text = text;
    write_program(to, singly, text, plan);
    return true;
}

/* First what the others choose, in their order, then what of this test's pairs is not in theirs. */
static void choose_sample(const char *told)
{
    char *words = strdup(told), *rest = NULL, *this = realpath("/proc/self/exe", NULL);
    if (!words || !this)
        abort();
    const char *mode = strtok_r(words, ":", &rest);
    for (const char *other; (other = strtok_r(NULL, ":", &rest));) {
        list_programs(other, mode);
        choose_programs();
        forget_programs();
    }
    list_programs(this, mode);
    choose_programs();
    setenv("HARNESS_PROGRAMS", mode, 1);
    free(words);
    free(this);
}

/* Whether the test has the program to run for the 1st, 3rd, 6th, 10th, … time. */
static bool is_turn(struct program *program)
{
    unsigned turn = 0, step = 0;
    for (program->turns++; turn < program->turns; turn += ++step) {
    }
    return turn == program->turns;
}

static bool sample_leaves_out(const char *told, uint64_t text)
{
    static bool chosen;
    if (!chosen) {
        choose_sample(told);
        chosen = true;
    }
    struct program *program = find(text);
    if (!program || !program->runs || strncmp(told, "few", 3) != 0)
        return program && !program->runs;
    return !is_turn(program);
}

/* All programs run, so none need be listed. */
static bool thin_leaves_out(uint64_t text)
{
    struct program *program = find(text);
    if (!program && n_programs < PROGRAMS_MAX) {
        program = &programs[n_programs++];
        *program = (struct program){.text = text, .runs = true};
    }
    return program && !is_turn(program);
}

bool programs_lists(void)
{
    const char *told = getenv("HARNESS_PROGRAMS");
    return told && strncmp(told, "list:", 5) == 0;
}

void programs_leave_out(bool any)
{
    none_left_out = !any;
}

bool programs_leaves_out(const struct plan *plan)
{
    const char *told = getenv("HARNESS_PROGRAMS"), *all = getenv("SLUICE_TEST_ALL");
    struct program_source source = {0};
    struct fault fault = FAULT_INIT;
    char mode[16] = "";
    int to;
    if (!told || (all && all[0] == '1') || (none_left_out && !programs_lists()) ||
        program_source_create(&source, plan, &fault) != 0)
        return false;
    uint64_t text = hash_bytes(HASH_INIT, source.text.data, source.text.length);
    program_source_finish(&source);
    if (sscanf(told, "list:%d:%8s", &to, mode) == 2)
        return list_leaves_out(to, strcmp(mode, "choices") == 0, text, plan);
    sscanf(told, "%8[^:]", mode);
    if (strcmp(mode, "pairs") == 0 || strcmp(mode, "few") == 0 || strcmp(mode, "choices") == 0)
        return sample_leaves_out(told, text);
    if (strcmp(mode, "thin") == 0)
        return thin_leaves_out(text);
    fprintf(stderr, "HARNESS_PROGRAMS=%s: expected pairs, few, choices or thin\n", told);
    abort();
}

void programs_report(void)
{
    size_t left_out = 0;
    for (size_t i = 0; i < n_programs; i++)
        left_out += !programs[i].runs;
    if (left_out > 0)
        printf("%zu of %zu programs were not run on the device (SLUICE_TEST_ALL=1 runs all)\n",
               left_out, n_programs);
    forget_programs();
}
