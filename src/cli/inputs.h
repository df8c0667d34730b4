/* The pictures that a command's operands mean: files, - for stdin, and what lies in folders.
 *
 * In a folder, names that begin with a dot or that watched folders ignore (*.part, *~) are passed
 * over, and so are links, pipes and devices. Whether a file there is a picture is told by its first
 * bytes when its turn comes (inputs_open); an operand has to be one. A list of a million files
 * takes 16 MB and their names. */
#ifndef SLUICE_CLI_INPUTS_H
#define SLUICE_CLI_INPUTS_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct input {
    const char *name; /* an operand, or a file's name within its folder */
    uint32_t folder;  /* its place in inputs.folders and 1; 0: an operand */
    uint32_t clash;   /* the place of another one and 1 whose result would have the same name; its
                         own place: the same file stands in the list before; 0: neither */
};

struct input_folder {
    char *path;   /* as it was told, without a slash at its end; owned */
    size_t below; /* where the part begins in it that is below the operand */
};

struct input_names; /* memory for names */

struct inputs {
    struct input *list; /* by operand, in a folder by name; owned */
    size_t count;
    struct input_folder *folders; /* owned */
    size_t n_folders;
    struct input_names *names;
    size_t n_no_files;     /* in folders: links, pipes, devices */
    size_t n_left_folders; /* below folders, left out because nobody asked for them */
};

struct inputs_rules {
    bool recursive;         /* folders below folders, too */
    bool verbose;           /* tell on stderr what is left out */
    bool any;               /* files of folders are raw frames: there is no telling them */
    const struct stat *out; /* the folder for results: nothing is taken from there; NULL: none */
};

/* Lists what the operands mean. A file or a folder that is missing or cannot be read is in the list
 * and is told when it is opened. FAULT_USAGE when the folder for results is a folder given. */
int inputs_gather(struct inputs *inputs, char **operands, size_t count,
                  const struct inputs_rules *rules, struct fault *fault);

void inputs_finish(struct inputs *inputs);

/* The path to open, which the caller frees; NULL without memory. */
char *inputs_path(const struct inputs *inputs, size_t index);

/* The folder of the file below its operand: "sub/deeper", or "". */
const char *inputs_below(const struct inputs *inputs, size_t index);

/* Opens it for reading; *fd is the caller's. INPUTS_OTHER, with *fd −1 and no fault: a file of a
 * folder that is no picture. */
#define INPUTS_OTHER (-1)
int inputs_open(const struct inputs *inputs, size_t index, bool any, int *fd, struct fault *fault);

/* Finds files whose results would have the same name, and files that stand there twice, and marks
 * them (struct input). `name_result` gives the path of an input's result, which is freed. Files of
 * folders that are no pictures do not count. */
int inputs_find_clashes(struct inputs *inputs, bool any,
                        char *(*name_result)(void *context, size_t index), void *context,
                        struct fault *fault);

#endif
