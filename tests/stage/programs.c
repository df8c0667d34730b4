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

#define PROGRAMS_MAX 8192       /* what comes after the last is run */
#define CHOICES_MAX  128        /* of one pass */
#define PAIRS_MAX    (1u << 20) /* more than any stage has; a power of two */

static struct program {
    uint64_t text;   /* hash of its source */
    uint64_t *pairs; /* hashes of two of its choices each */
    size_t n_pairs;
    bool runs;
} programs[PROGRAMS_MAX];
static size_t n_programs;
static bool none_left_out;

/* ---- choices ---- */

/* Large numbers and long texts are a stage's coefficients and what is computed with them: that
 * there are some is the choice, not which ones. */
static size_t choice_length(const char *define, size_t length)
{
    const char *value = memchr(define, ' ', length);
    size_t name = value ? (size_t)(value - define) : length;
    bool is_number = value && (isdigit((unsigned char)value[1]) || strchr("-(.", value[1]));
    return length - name > (is_number ? 3 : 17) ? name : length;
}

/* The pass's definitions, what it is an instance of, and for which class of device. */
static size_t choices_of(const struct pass *pass, const struct device_profile *profile,
                         uint64_t choices[CHOICES_MAX])
{
    size_t n = 0;
    choices[n++] = hash_bytes(HASH_INIT, pass->source, strlen(pass->source));
    choices[n++] = hash_bytes(HASH_INIT + profile->generic, profile->name, strlen(profile->name));
    for (const char *at = pass->defines; *at && n < CHOICES_MAX; n++) {
        size_t length = strcspn(at, "\n");
        choices[n] = hash_bytes(HASH_INIT, at, choice_length(at, length));
        at += length + (at[length] == '\n');
    }
    return n;
}

/* ---- the list, which a second process of the same test writes ---- */

static void write_pairs(FILE *list, const struct pass *pass, const struct device_profile *profile)
{
    uint64_t choices[CHOICES_MAX];
    size_t n = choices_of(pass, profile, choices);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            fprintf(list, " %llx",
                    (unsigned long long)hash_bytes(choices[i], &choices[k], sizeof choices[k]));
}

/* A line for the program: its hash, and those of its pairs. */
static void write_program(int to, uint64_t text, const struct plan *plan)
{
    static FILE *list;
    if (!list && !(list = fdopen(to, "w")))
        abort();
    fprintf(list, "%llx", (unsigned long long)text);
    for (size_t i = 0; i < plan->n_steps; i++)
        for (unsigned p = 0; p < plan->steps[i].work.n_passes; p++)
            write_pairs(list, &plan->steps[i].work.passes[p], plan->profile);
    fputc('\n', list);
    fflush(list);
}

static void read_program(struct program *program, char *line)
{
    char *at = line;
    program->text = strtoull(at, &at, 16);
    program->pairs = malloc(strlen(line) / 2 * sizeof *program->pairs);
    if (!program->pairs)
        abort();
    while (*at == ' ')
        program->pairs[program->n_pairs++] = strtoull(at, &at, 16);
}

/* Has this test run once more, to list the programs; whether it passes is of no interest. */
static void list_programs(void)
{
    extern char **environ;
    char told[32], *line = NULL;
    char *args[] = {program_invocation_name, NULL};
    size_t size = 0;
    pid_t child;
    posix_spawn_file_actions_t silent;
    FILE *list = tmpfile();
    if (!list)
        abort();
    snprintf(told, sizeof told, "list:%d", fileno(list));
    setenv("HARNESS_PROGRAMS", told, 1);
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", 1, 0);
    posix_spawn_file_actions_adddup2(&silent, 1, 2);
    if (posix_spawn(&child, "/proc/self/exe", &silent, NULL, args, environ) != 0 ||
        waitpid(child, NULL, 0) < 0)
        abort();
    posix_spawn_file_actions_destroy(&silent);
    setenv("HARNESS_PROGRAMS", "pairs", 1);
    rewind(list);
    while (n_programs < PROGRAMS_MAX && getline(&line, &size, list) > 0)
        read_program(&programs[n_programs++], line);
    free(line);
    fclose(list);
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
static bool list_leaves_out(int to, uint64_t text, const struct plan *plan)
{
    if (find(text) || n_programs == PROGRAMS_MAX)
        return true;
    programs[n_programs++].text = text;
    write_program(to, text, plan);
    return true;
}

static bool sample_leaves_out(uint64_t text)
{
    static bool chosen;
    if (!chosen) {
        list_programs();
        choose_programs();
        chosen = true;
    }
    const struct program *program = find(text);
    return program && !program->runs;
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
    int to;
    if (!told || (all && all[0] == '1') || none_left_out ||
        program_source_create(&source, plan, &fault) != 0)
        return false;
    uint64_t text = hash_bytes(HASH_INIT, source.text.data, source.text.length);
    program_source_finish(&source);
    if (sscanf(told, "list:%d", &to) == 1)
        return list_leaves_out(to, text, plan);
    if (strcmp(told, "pairs") == 0)
        return sample_leaves_out(text);
    fprintf(stderr, "HARNESS_PROGRAMS=%s: expected pairs\n", told);
    abort();
}

void programs_report(void)
{
    size_t left_out = 0;
    for (size_t i = 0; i < n_programs; i++) {
        left_out += !programs[i].runs;
        free(programs[i].pairs);
    }
    if (left_out > 0)
        printf("%zu of %zu programs were not run on the device (SLUICE_TEST_ALL=1 runs all)\n",
               left_out, n_programs);
    n_programs = 0;
}
