/* The configuration file: definitions for chains, chains, and the daemon's settings.
 *
 *     version: 1
 *     kernels: {soft: 1_2_1/2_4_2/1_2_1}
 *     banks:   {half: {qmf: [0.70710678118654752, 0.70710678118654752]}}
 *     chains:  {edges: "luminance,sobel:scale=1"}
 *     watch:   [{input: in, output: out, chain: edges}]
 *
 * A section is an entry of the table in config.c. Texts of chains are not checked here, because
 * this module does not know the stages. At the end: a configuration with a count of its users. */
#ifndef SLUICE_CONFIG_CONFIG_H
#define SLUICE_CONFIG_CONFIG_H

#include "bank/definitions.h"
#include "base/fault.h"
#include "base/text.h"
#include "config/settings.h"
#include <stdlib.h>

struct config_chain {
    char name[PARAM_WORD_MAX];
    char *text;         /* owned */
    struct place place; /* where the text stands */
};

struct config {
    struct definitions definitions;
    size_t n_chains;
    struct config_chain *chains;
    struct settings settings; /* defaults, changed by the file */
    char *source;             /* the file's text; NULL: there is no file; owned */
    size_t source_length;
};

/* Reads the file. FAULT_CONFIG when it is wrong: `errors` then has a line "FILE:LINE:COLUMN: what
 * is wrong" for each mistake, and the fault is the first. After any fault the config is empty. */
int config_read(struct config *config, const char *path, struct text *errors, struct fault *fault);

/* The same for those who need its settings alone: files of cameras and pictures, which they may not
 * be allowed to read, stay closed, and definitions are without these. */
int config_read_settings(struct config *config, const char *path, struct text *errors,
                         struct fault *fault);

/* As config_read for text in memory; `name` stands for the file in errors. */
int config_read_text(struct config *config, const char *name, const char *text, size_t length,
                     struct text *errors, struct fault *fault);

/* As config_read, but after a fault the config has everything that could be read, and defaults for
 * the rest, so that it can be checked, too. */
int config_read_partly(struct config *config, const char *path, struct text *errors,
                       struct fault *fault);

/* Appends what a worker has to know: each of its settings as it is in force, whatever said it, and
 * the file if that defines any @name. Cameras are told by their numbers, since a worker cannot
 * open files. Workers that are given the same text do the same. */
void config_print_worker(const struct config *config, struct text *text);

/* Reads that. Other settings are as by default, or as the file has them. After a fault the config
 * is empty. */
int config_read_worker(struct config *config, const char *text, size_t length, struct fault *fault);

/* Reads a calibration's file as OpenCV or ROS writes it, YAML or JSON; FAULT_CONFIG says what is
 * wrong in it. */
int config_parse_camera(const void *data, size_t size, struct definition_camera *camera,
                        struct fault *fault);

/* A camera as a line of what a worker is given, and back. False: no such line. */
void config_print_camera(const struct definition_camera *camera, struct text *text);
bool config_scan_camera(const char *line, struct definition_camera *camera);

/* Adds a picture as a command line has it, NAME=FILE. FAULT_USAGE says what is wrong. */
int config_define_picture(struct config *config, const char *definition, struct fault *fault);

/* A picture as a line of what a worker is given, and back. */
void config_print_picture(const struct definition_picture *picture, struct text *text);
int config_scan_picture(const char *line, struct definitions *definitions, struct fault *fault);

void config_finish(struct config *config);

/* Replaces names of chains in watched folders by their texts. To be called after everything has
 * been read. */
void config_resolve_chains(struct config *config);

/* The text of the chain of that name; NULL: there is none. */
const char *config_chain(const struct config *config, const char *name);

/* What the chain of that text is called: its name or, where folders have it without one, its text.
 * NULL: it is not configured. */
const char *config_name_of_chain(const struct config *config, const char *text);

/* For a chain that is a single word and no stage: the name of a chain that may be meant; NULL:
 * none. */
const char *config_guess_chain(const struct config *config, const char *text);

/* A rulebook: a configuration with reference counting. After a reload the old one stays until the
 * jobs that began under it have ended. The loop's thread alone. */
struct rulebook {
    struct config config;
    unsigned users;
};

static inline struct rulebook *rulebook_use(struct rulebook *book)
{
    book->users++;
    return book;
}

/* Takes NULL; clears the pointer. */
static inline void rulebook_leave(struct rulebook **book)
{
    if (*book && --(*book)->users == 0) {
        config_finish(&(*book)->config);
        free(*book);
    }
    *book = NULL;
}

#endif
