/* The pictures that a command's operands stand for: files, - for stdin, and files in folders.
 *
 * In folders, names that begin with a dot or that watched folders ignore (*.part, *~) are left out,
 * as are links, pipes and devices. Whether a file in a folder is a picture is decided by its first
 * bytes when it is opened (inputs_open); an operand has to be one. A list of a million files takes
 * 16 MB, plus their names. */
#ifndef SLUICE_CLI_INPUTS_H
#define SLUICE_CLI_INPUTS_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct input {
    const char *name; /* an operand, or the name of a file in its folder */
    uint32_t folder;  /* index in inputs.folders plus 1; 0: an operand */
    uint32_t clash;   /* index plus 1 of an earlier input with the same result name; its own index
                         plus 1: the same file is in the list before; 0: neither */
};

struct input_folder {
    char *path;   /* path as given, without a slash at its end; owned */
    size_t below; /* offset in it of the part below the operand */
};

struct input_names; /* memory for names */

struct inputs {
    struct input *list; /* in the order of operands, and of names within a folder; owned */
    size_t count;
    struct input_folder *folders; /* owned */
    size_t n_folders;
    struct input_names *names;
    bool any;              /* all files of folders count as pictures */
    size_t n_no_files;     /* links, pipes and devices in folders */
    size_t n_left_folders; /* folders in folders that were left out, without --recursive */
};

struct inputs_rules {
    bool recursive;         /* take folders in folders, too */
    bool verbose;           /* report on stderr what is left out */
    bool any;               /* take all files of folders: raw frames cannot be recognised */
    const struct stat *outs; /* the folders for results, from which nothing is taken */
    size_t n_outs;
};

/* Lists the inputs. A missing or unreadable file or folder stays in the list, and is reported when
 * it is opened. FAULT_USAGE when the folder for results is itself an operand. */
int inputs_gather(struct inputs *inputs, char **operands, size_t count,
                  const struct inputs_rules *rules, struct fault *fault);

void inputs_finish(struct inputs *inputs);

/* The path to open; the caller frees it; NULL without memory. */
char *inputs_path(const struct inputs *inputs, size_t index);

/* The file's folder below the operand: "sub/deeper", or "". */
const char *inputs_below(const struct inputs *inputs, size_t index);

/* Opens an input; the caller owns *fd. INPUTS_OTHER, with *fd −1: a file in a folder that is no
 * picture, or, if the fault says so, one that no codec reads. */
#define INPUTS_OTHER (-1)
int inputs_open(const struct inputs *inputs, size_t index, int *fd, struct fault *fault);

/* Finds and marks inputs of whose `n_results` results one would have the same name as one of
 * another's, and files that are in the list twice (struct input). `name_result` returns the path of
 * a result, which is freed. Files in folders that are no pictures do not count. FAULT_USAGE: two
 * results of one picture would have the same name. */
typedef char *inputs_name(void *context, size_t index, size_t result);
int inputs_find_clashes(struct inputs *inputs, inputs_name *name_result, size_t n_results,
                        void *context, struct fault *fault);

#endif
