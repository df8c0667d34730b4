/* The configuration file: what is defined for chains, the chains themselves, and what the daemon is
 * told.
 *
 *     version: 1
 *     kernels: {soft: 1_2_1/2_4_2/1_2_1}
 *     banks:   {half: {qmf: [0.70710678118654752, 0.70710678118654752]}}
 *     chains:  {edges: "luminance,sobel"}
 *     watch:   [{input: in, output: out, chain: edges}]
 *
 * A section is an entry of the table in config.c. The texts of chains are not looked at here: that
 * takes the stages. */
#ifndef SLUICE_CONFIG_CONFIG_H
#define SLUICE_CONFIG_CONFIG_H

#include "bank/definitions.h"
#include "base/fault.h"
#include "base/text.h"
#include "config/settings.h"

struct config_chain {
    char name[PARAM_WORD_MAX];
    char *text;         /* owned */
    struct place place; /* of the text */
};

struct config {
    struct definitions definitions;
    size_t n_chains;
    struct config_chain *chains;
    struct settings settings; /* defaults, and what the file says */
    char *source;             /* the text of the file; NULL: there is none; owned */
    size_t source_length;
};

/* Reads the file. FAULT_CONFIG when it is wrong: `errors` then has a line for each error,
 * "FILE:LINE:COLUMN: what is wrong", and the fault the first of them. Then, and when the file
 * cannot be read, the config is empty. */
int config_read(struct config *config, const char *path, struct text *errors, struct fault *fault);

/* The same for text in memory; `name` stands for the file in errors. */
int config_read_text(struct config *config, const char *name, const char *text, size_t length,
                     struct text *errors, struct fault *fault);

/* As config_read, but with FAULT_CONFIG the config holds what could be read: for whoever wants to
 * tell what is wrong with that, too. */
int config_read_partly(struct config *config, const char *path, struct text *errors,
                       struct fault *fault);

void config_finish(struct config *config);

/* Chains that watched folders name become their texts. After everything has been said. */
void config_resolve_chains(struct config *config);

/* The text of the chain of that name; NULL when there is none. */
const char *config_chain(const struct config *config, const char *name);

/* Of a chain that is a single word and no stage's: the name that may be meant; NULL: none. */
const char *config_guess_chain(const struct config *config, const char *text);

#endif
