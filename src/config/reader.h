/* Reads a strict subset of YAML by tables: mappings, sequences and scalars. Anchors, aliases, tags
 * and merge keys are errors; so are duplicate keys, and unknown keys, for which the nearest known
 * key is named. Each error gives file, line and column, and reading goes on after it. One thread
 * for a reader. */
#ifndef SLUICE_CONFIG_READER_H
#define SLUICE_CONFIG_READER_H

#include "base/text.h"
#include "config/settings.h"
#include "param/param.h"
#include <stdbool.h>
#include <yaml.h>

struct reader {
    const char *file; /* its name in errors */
    yaml_document_t document;
    struct settings *settings; /* keeps texts, since they outlive the document */
    struct text *errors;       /* one on each line */
    unsigned n_errors;
    bool without_files; /* those that definitions name are not read */
};

/* A key of a mapping: a parameter of a table, as for chains and command lines, or a key that a
 * function reads into what is at `offset`. Tables end with an entry without a name. */
struct reader_key;
typedef void reader_function(struct reader *reader, const struct reader_key *key,
                             yaml_node_t *value, void *to);
struct reader_key {
    const char *name;
    const struct param *option;
    reader_function *read; /* NULL: by the option's type */
    size_t offset;
    bool required;
};

/* Parses `size` bytes. Returns false, with an error, when they are not such YAML. reader_finish
 * must follow in any case. */
bool reader_begin(struct reader *reader, const char *file, const void *data, size_t size,
                  struct settings *settings, struct text *errors);
void reader_finish(struct reader *reader);

/* Returns false. */
bool reader_complain(struct reader *reader, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads a mapping into `to` by a table. `what` names the mapping in errors ("bank 'thirds'").
 * Returns which keys were there, as bits in the table's order. */
uint64_t reader_mapping(struct reader *reader, yaml_node_t *node, const char *what,
                        const struct reader_key *keys, void *to);

/* The value of a key in a mapping, for errors that are found later; NULL: it is not there. */
const yaml_node_t *reader_value(struct reader *reader, const yaml_node_t *mapping, const char *key);

/* Calls `read` for each entry of a mapping with names that users choose: definitions_is_name holds
 * for them. */
void reader_names(struct reader *reader, yaml_node_t *node, const char *what,
                  void (*read)(struct reader *reader, const char *name, yaml_node_t *value,
                               void *to),
                  void *to);

/* The number of entries of a sequence; 0, with an error, when it is no sequence or does not have
 * `min` to `max` entries. */
size_t reader_count(struct reader *reader, yaml_node_t *node, const char *what, size_t min,
                    size_t max);
yaml_node_t *reader_item(struct reader *reader, const yaml_node_t *sequence, size_t index);

/* The text of a scalar; NULL, with an error, when it is none. */
const char *reader_scalar(struct reader *reader, yaml_node_t *node, const char *what);
/* A copy of the text that outlives the document; NULL for NULL, and without memory. */
const char *reader_keep(struct reader *reader, const char *text);

bool reader_real(struct reader *reader, yaml_node_t *node, const char *what, double *value);
bool reader_integer(struct reader *reader, yaml_node_t *node, const char *what, int64_t min,
                    int64_t max, int64_t *value);
bool reader_flag(struct reader *reader, yaml_node_t *node, const char *what, bool *value);

/* Sections of the configuration that banks.c, cameras.c and pictures.c read into struct definitions. */
reader_function config_read_banks, config_read_kernels, config_read_cameras, config_read_pictures;

#endif
