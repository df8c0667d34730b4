#include "bank/definitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/nearest.h"
#include "base/sealed.h"

/* More than this is no second picture of a board, and would be held for as long as the program
 * runs. */
#define FILES_BYTES_MAX (1ull << 30)

bool definitions_is_name(const char *name, size_t length)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return length > 0 && length <= DEFINITION_NAME_MAX && strspn(name, letters) >= length;
}

void definitions_finish(struct definitions *definitions)
{
    for (size_t i = 0; i < definitions->n_banks; i++) {
        free(definitions->banks[i]->filters);
        free(definitions->banks[i]);
    }
    free(definitions->banks);
    free(definitions->kernels);
    free(definitions->cameras);
    for (size_t i = 0; i < definitions->n_pictures; i++) {
        struct definition_picture *picture = definitions->pictures[i];
        for (int form = 0; form < PICTURE_FORMS; form++)
            free(picture->forms[form].samples);
        pthread_mutex_destroy(&picture->lock);
        free(picture->samples);
        free(picture->what);
        free(picture);
    }
    free(definitions->pictures);
    definitions_drop_file(definitions);
    *definitions = (struct definitions){0};
}

bool definitions_add_kernel(struct definitions *definitions, const struct definition_kernel *kernel)
{
    size_t n = definitions->n_kernels;
    struct definition_kernel *kernels = realloc(definitions->kernels, (n + 1) * sizeof *kernels);
    if (!kernels)
        return false;
    definitions->kernels = kernels;
    kernels[definitions->n_kernels++] = *kernel;
    return true;
}

bool definitions_add_camera(struct definitions *definitions, const struct definition_camera *camera)
{
    size_t n = definitions->n_cameras;
    struct definition_camera *cameras = realloc(definitions->cameras, (n + 1) * sizeof *cameras);
    if (!cameras)
        return false;
    definitions->cameras = cameras;
    cameras[definitions->n_cameras++] = *camera;
    return true;
}

bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank)
{
    size_t n = definitions->n_banks;
    struct definition_bank **banks = realloc(definitions->banks, (n + 1) * sizeof *banks);
    /* allocated by itself, since chains keep its address */
    struct definition_bank *copy = malloc(sizeof *copy);
    if (banks)
        definitions->banks = banks;
    if (!banks || !copy) {
        free(copy);
        return false;
    }
    *copy = *bank;
    copy->bank.name = copy->name;
    banks[definitions->n_banks++] = copy;
    return true;
}

struct definition_picture *definitions_add_picture(struct definitions *definitions,
                                                   const char *name, const char *what)
{
    size_t n = definitions->n_pictures;
    struct definition_picture **pictures =
        realloc(definitions->pictures, (n + 1) * sizeof *pictures);
    /* allocated by itself, since chains keep its address */
    struct definition_picture *picture = calloc(1, sizeof *picture);
    if (pictures)
        definitions->pictures = pictures;
    if (picture)
        picture->what = strdup(what);
    if (!pictures || !picture || !picture->what) {
        free(picture ? picture->what : NULL);
        free(picture);
        return NULL;
    }
    memcpy(picture->name, name, strnlen(name, sizeof picture->name - 1));
    pthread_mutex_init(&picture->lock, NULL);
    return pictures[definitions->n_pictures++] = picture;
}

int definitions_add_file(struct definitions *definitions, struct definition_picture *picture,
                         int fd, struct fault *fault)
{
    struct definition_file *file = definitions->file;
    struct bytes bytes = {0};
    if (!file) {
        file = definitions->file = calloc(1, sizeof *file);
        if (file)
            file->fd = sealed_create("sluice-pictures");
    }
    if (!file || file->fd < 0)
        return fault_set(fault, FAULT_MEMORY, "no memory for pictures");
    int result = file_read(fd, FILES_BYTES_MAX - file->bytes.size, &bytes, fault);
    if (result == FAULT_LIMIT)
        result = fault_set(fault, FAULT_LIMIT, "pictures of a configuration have 1 GiB at most");
    if (result == 0 && bytes.size == 0)
        result = fault_set(fault, FAULT_EMPTY, "the file is empty");
    if (result == 0)
        result = file_write(file->fd, bytes.data, bytes.size, fault);
    if (result == 0) {
        picture->at = file->bytes.size;
        picture->size = bytes.size;
        picture->hash = hash_bytes(HASH_INIT, bytes.data, bytes.size);
        file->bytes.size += bytes.size;
    }
    bytes_finish(&bytes);
    return result;
}

int definitions_take_file(struct definitions *definitions, int fd, struct fault *fault)
{
    definitions_drop_file(definitions);
    definitions->file = calloc(1, sizeof *definitions->file);
    if (!definitions->file) {
        close(fd);
        return fault_set(fault, FAULT_MEMORY, "no memory for pictures");
    }
    off_t size = lseek(fd, 0, SEEK_END);
    *definitions->file = (struct definition_file){fd, {.size = size > 0 ? (size_t)size : 0}};
    return 0;
}

int definitions_map_file(struct definitions *definitions, struct fault *fault)
{
    struct definition_file *file = definitions->file;
    if (!file || file->bytes.data || file->bytes.size == 0)
        return 0;
    sealed_finish(file->fd); /* another process may have done so */
    return sealed_map(file->fd, FILES_BYTES_MAX, &file->bytes)
               ? 0
               : fault_set_errno(fault, FAULT_MEMORY, "the pictures' files");
}

void definitions_drop_file(struct definitions *definitions)
{
    struct definition_file *file = definitions->file;
    definitions->file = NULL;
    if (!file)
        return;
    sealed_unmap(&file->bytes);
    file_close(&file->fd);
    free(file);
}

const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_kernels; i++)
        if (strcmp(definitions->kernels[i].name, name) == 0)
            return &definitions->kernels[i].k;
    return NULL;
}

const struct bank *definitions_bank(const struct definitions *definitions, const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_banks; i++)
        if (strcmp(definitions->banks[i]->name, name) == 0)
            return &definitions->banks[i]->bank;
    return NULL;
}

const struct definition_camera *definitions_camera(const struct definitions *definitions,
                                                   const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_cameras; i++)
        if (strcmp(definitions->cameras[i].name, name) == 0)
            return &definitions->cameras[i];
    return NULL;
}

struct definition_picture *definitions_picture(const struct definitions *definitions,
                                               const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_pictures; i++)
        if (strcmp(definitions->pictures[i]->name, name) == 0)
            return definitions->pictures[i];
    return NULL;
}

uint64_t definitions_picture_bytes(const struct definitions *definitions)
{
    uint64_t bytes = 0;
    for (size_t i = 0; definitions && i < definitions->n_pictures; i++)
        bytes += definitions->pictures[i]->n_bytes;
    return bytes;
}

int definitions_check_camera(const struct definition_camera *camera, const char *what,
                             struct fault *fault)
{
    const double *m = camera->matrix;
    unsigned n = camera->n_distortion;
    bool finite = true;
    for (int i = 0; i < 9; i++)
        finite &= isfinite(m[i]) != 0;
    for (unsigned i = 0; i < n; i++)
        finite &= isfinite(camera->distortion[i]) != 0;
    if (!finite || !(m[0] > 0) || !(m[4] > 0) || m[1] != 0 || m[3] != 0 || m[6] != 0 || m[7] != 0 ||
        m[8] != 1)
        return fault_set(fault, FAULT_CHAIN,
                         "%s: a camera's matrix is fx 0 cx, 0 fy cy, 0 0 1, with fx and fy above 0",
                         what);
    if (camera->fisheye && n > 4)
        return fault_set(fault, FAULT_CHAIN, "%s: a fisheye has 4 numbers of distortion, not %u",
                         what, n);
    return 0;
}

static int unknown_bank(const struct definitions *definitions, const char *word,
                        struct fault *fault)
{
    const char *name = word[0] == '@' ? word + 1 : word;
    struct nearest nearest = {0};
    struct text names = {0};
    for (size_t i = 0; bank_builtin_name(i); i++) {
        nearest_offer(&nearest, name, strlen(name), bank_builtin_name(i));
        text_printf(&names, "%s%s", i ? ", " : "", bank_builtin_name(i));
    }
    for (size_t i = 0; definitions && i < definitions->n_banks; i++) {
        nearest_offer(&nearest, name, strlen(name), definitions->banks[i]->name);
        text_printf(&names, ", @%s", definitions->banks[i]->name);
    }
    int result = fault_set(
        fault, FAULT_CHAIN, "no bank '%s'%s (there are %s%s)", word, nearest_ask(&nearest, ""),
        text_string(&names),
        definitions && definitions->n_banks ? "" : "; --config FILE defines others under banks");
    text_finish(&names);
    return result;
}

int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault)
{
    *bank = NULL;
    if (word[0] != '@')
        *bank = bank_builtin(word, strlen(word));
    if (!*bank)
        *bank = definitions_bank(definitions, word[0] == '@' ? word + 1 : word);
    return *bank ? 0 : unknown_bank(definitions, word, fault);
}
