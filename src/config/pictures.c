/* Pictures: files of second pictures, for stages that take one.
 *
 *     pictures:
 *       dark: calibration/dark.png
 *       flat: /var/lib/camera/flat.npy
 *
 * Their bytes are read here, so that a configuration and its pictures change together, at a reload.
 * codec/pictures.h decodes them, in the program that computes. */
#include "config/reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bank/definitions.h"
#include "base/file.h"
#include "config/config.h"

#define LINE_START "pictures."

/* Opens and reads the file of a picture that is already there. */
static int read_file(struct definitions *definitions, struct definition_picture *picture,
                     const char *path, struct fault *fault)
{
    struct fault why = FAULT_INIT;
    struct stat status;
    int fd = -1;
    int result = file_open_input(path, O_NONBLOCK, &fd, &why);
    if (result == 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        result = fault_set(&why, FAULT_NO_INPUT, "no regular file");
    if (result == 0)
        result = definitions_add_file(definitions, picture, fd, &why);
    file_close(&fd);
    return result ? fault_set(fault, why.code, "%s: %s", path, why.text) : 0;
}

static bool has_room(const struct definitions *definitions)
{
    return definitions->n_pictures < DEFINITION_PICTURES_MAX;
}

static void read_picture(struct reader *reader, const char *name, yaml_node_t *node, void *to)
{
    struct fault fault = FAULT_INIT;
    struct text path = {0}, what = {0};
    const char *file = reader_scalar(reader, node, "pictures"), *slash = strrchr(reader->file, '/');
    if (!file || reader->without_files || definitions_picture(to, name))
        return; /* a worker has it from the front, which has read the file */
    if (!has_room(to)) {
        reader_complain(reader, node, "pictures: there are more than %d", DEFINITION_PICTURES_MAX);
        return;
    }
    if (file[0] != '/' && slash) /* from the configuration's folder */
        text_append_bytes(&path, reader->file, (size_t)(slash + 1 - reader->file));
    text_append(&path, file);
    text_printf(&what, "%s:%zu:%zu: picture '%s': %s", reader->file, node->start_mark.line + 1,
                node->start_mark.column + 1, name, text_string(&path));
    struct definition_picture *picture =
        path.failed || what.failed ? NULL : definitions_add_picture(to, name, text_string(&what));
    if (!picture)
        reader->errors->failed = true;
    else if (read_file(to, picture, text_string(&path), &fault) != 0)
        reader_complain(reader, node, "picture '%s': %s", name, fault.text);
    text_finish(&path);
    text_finish(&what);
}

void config_read_pictures(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                          void *to)
{
    reader_names(reader, node, key->name, read_picture, to);
}

int config_define_picture(struct config *config, const char *definition, struct fault *fault)
{
    struct definitions *definitions = &config->definitions;
    size_t length = strcspn(definition, "=");
    char name[PARAM_WORD_MAX] = "";
    if (definition[length] != '=' || !definition[length + 1] ||
        !definitions_is_name(definition, length))
        return fault_set(fault, FAULT_USAGE,
                         "'%.80s': expected NAME=FILE, a name of at most %d letters, digits, . _ "
                         "and -, and a picture's file",
                         definition, DEFINITION_NAME_MAX);
    memcpy(name, definition, length);
    if (definitions_picture(definitions, name))
        return fault_set(fault, FAULT_USAGE, "picture '%s' is defined twice", name);
    if (!has_room(definitions))
        return fault_set(fault, FAULT_USAGE, "there are more than %d pictures",
                         DEFINITION_PICTURES_MAX);
    struct text what = {0};
    text_printf(&what, "--define: picture '%s': %s", name, definition + length + 1);
    struct definition_picture *picture =
        what.failed ? NULL : definitions_add_picture(definitions, name, text_string(&what));
    text_finish(&what);
    return picture ? read_file(definitions, picture, definition + length + 1, fault)
                   : fault_set(fault, FAULT_MEMORY, "no memory for a picture");
}

/* ---- what a worker is given: its file is another one (definitions_take_file) ---- */

void config_print_picture(const struct definition_picture *picture, struct text *text)
{
    text_printf(text, LINE_START "%s=%" PRIu64 " %" PRIu64 " %016" PRIx64 " %s", picture->name,
                picture->at, picture->size, picture->hash, picture->what);
}

int config_scan_picture(const char *line, struct definitions *definitions, struct fault *fault)
{
    const char *at = line + strlen(LINE_START);
    size_t length = strcspn(at, "=");
    char name[PARAM_WORD_MAX] = "";
    uint64_t place, size, hash;
    int end = -1;
    if (length >= sizeof name ||
        sscanf(at + length, "=%" SCNu64 " %" SCNu64 " %" SCNx64 " %n", &place, &size, &hash,
               &end) != 3 ||
        end < 0)
        return fault_set(fault, FAULT_DATA, "'%.60s' is no picture of a worker", line);
    memcpy(name, at, length);
    struct definition_picture *picture =
        definitions_add_picture(definitions, name, at + length + end);
    if (!picture)
        return fault_set(fault, FAULT_MEMORY, "no memory for a configuration");
    picture->at = place;
    picture->size = size;
    picture->hash = hash;
    return 0;
}
