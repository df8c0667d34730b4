/* Chains: the text that says what is done to a picture, and the stages and parameters it means.
 * Several chains for one picture are one tree, in which their common beginnings stand once.
 *
 *     luminance,sobel:scale=1
 *     luminance:bt709,box:radius=4:method=sat
 *
 * `stage[:arg[:arg…]]` joined by commas, blanks around commas ignored. Nothing is quoted or
 * escaped: values use only A-Z a-z 0-9 . _ - / @, and patterns *.
 *
 * Every stage takes `only=PATTERN`, too (stage/move/only.h). */
#ifndef SLUICE_CHAIN_CHAIN_H
#define SLUICE_CHAIN_CHAIN_H

#include "stage/stage.h"

struct chain_step {
    const struct stage *stage;
    void *config; /* owned: the stage's parameters */
    param_given given;
    char only[PARAM_WORD_MAX]; /* which planes it changes: a pattern of their names; "": all */
    size_t back; /* in a tree: how many steps lie between this one and the one whose result it
                    takes, or the beginning, for the picture */
};

struct chain {
    size_t n_steps;
    struct chain_step *steps;              /* a step stands behind the one whose result it takes */
    const struct definitions *definitions; /* those with which the chain was read; borrowed */
    size_t n_ends; /* of a tree: its results; 0: the last step's is the only one */
    size_t *ends;  /* the number of the step that gives each; 0: the picture as it is; owned */
};

#define CHAIN_STEPS_MAX   64
#define CHAIN_TEXT_MAX    16384
#define CHAIN_RESULTS_MAX 16

/* Parses a chain; blank text is a chain without steps. A FAULT_CHAIN marks the place in `text`. */
int chain_parse(struct chain *chain, const char *text, struct fault *fault);

/* The same. @name refers to `definitions`, which must outlive the chain. */
int chain_parse_with(struct chain *chain, const char *text, const struct definitions *definitions,
                     struct fault *fault);

/* The same; reports all mistakes in the order of the text, and returns the first one's code. */
int chain_parse_all(struct chain *chain, const char *text, const struct definitions *definitions,
                    struct faults *faults);

/* Makes the tree of `count` chains, which were read with the same definitions: its results are
 * theirs, in their order. Two steps are one if they and all before them are written alike.
 * FAULT_LIMIT: more than CHAIN_RESULTS_MAX. */
int chain_join(struct chain *tree, const struct chain *chains, size_t count, struct fault *fault);

/* How many results come out: 1 unless it is a tree; and the number of the step, counted from 1,
 * that gives one of them (0: the picture), or whose result step `number` takes. */
size_t chain_count_results(const struct chain *chain);
size_t chain_end(const struct chain *chain, size_t result);
size_t chain_step_before(const struct chain *chain, size_t number);

/* Parses the chains of several results, with ; between them, as one tree; reports all mistakes, as
 * chain_parse_all does. */
int chain_parse_results(struct chain *tree, const char *text, const struct definitions *definitions,
                        struct faults *faults);

/* Copies `from`, with its definitions. */
int chain_copy(struct chain *chain, const struct chain *from, struct fault *fault);
void chain_finish(struct chain *chain);

/* How little of a picture of the shape `whole` a decoder may give the chain: what the stages at its
 * beginning accept; for a tree, what is enough for all results. `luma`: by which matrix a luma
 * channel that it could give was made. */
struct stage_source chain_source(const struct chain *chain, const struct plane *whole,
                                 enum video_matrix luma);

/* Appends the canonical text: every parameter written out, in declared order. It reads back as the
 * same chain; of a tree the chains of all results, with ; between them. */
void chain_print(const struct chain *chain, struct text *text);

/* Appends the shortest form: only the parameters that differ from their defaults. */
void chain_print_short(const struct chain *chain, struct text *text);

#endif
