/* Chains: the text that says what is done to a picture, and the stages and parameters it means.
 *
 *     luminance,sobel:scale=1
 *     luminance:bt709,box:radius=4:method=sat
 *
 * `stage[:arg[:arg…]]` joined by commas, blanks around commas ignored. Nothing is quoted or
 * escaped: values use only A-Z a-z 0-9 . _ - / @. */
#ifndef SLUICE_CHAIN_CHAIN_H
#define SLUICE_CHAIN_CHAIN_H

#include "stage/stage.h"

struct chain_step {
    const struct stage *stage;
    void *config; /* owned: the stage's parameters */
    param_given given;
};

struct chain {
    size_t n_steps;
    struct chain_step *steps;
    const struct definitions *definitions; /* those with which the chain was read; borrowed */
};

#define CHAIN_STEPS_MAX 64
#define CHAIN_TEXT_MAX  16384

/* Parses a chain; blank text is a chain without steps. A FAULT_CHAIN marks the place in `text`. */
int chain_parse(struct chain *chain, const char *text, struct fault *fault);

/* The same. @name refers to `definitions`, which must outlive the chain. */
int chain_parse_with(struct chain *chain, const char *text, const struct definitions *definitions,
                     struct fault *fault);

/* The same; reports all mistakes in the order of the text, and returns the first one's code. */
int chain_parse_all(struct chain *chain, const char *text, const struct definitions *definitions,
                    struct faults *faults);

/* Copies `from`, with its definitions. */
int chain_copy(struct chain *chain, const struct chain *from, struct fault *fault);
void chain_finish(struct chain *chain);

/* How little of a picture of the shape `whole` a decoder may give the chain: what the stages at its
 * beginning accept. `luma`: by which matrix a luma channel that it could give was made. */
struct stage_source chain_source(const struct chain *chain, const struct plane *whole,
                                 enum video_matrix luma);

/* Appends the canonical text: every parameter written out, in declared order. It reads back as the
 * same chain. */
void chain_print(const struct chain *chain, struct text *text);

/* Appends the shortest form: only the parameters that differ from their defaults. */
void chain_print_short(const struct chain *chain, struct text *text);

#endif
