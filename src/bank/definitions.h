/* What a configuration defines for @names in chains: kernels of fir, filter banks, cameras, and
 * pictures. Chains point to them, so definitions must outlive every chain that was read with them.
 * One thread fills them; then any may read. */
#ifndef SLUICE_BANK_DEFINITIONS_H
#define SLUICE_BANK_DEFINITIONS_H

#include "bank/bank.h"
#include "base/file.h"
#include "image/frame.h"
#include "param/param.h"
#include <pthread.h>

/* A chain's word holds a name and the @ in front of it. */
#define DEFINITION_NAME_MAX (PARAM_WORD_MAX - 2)

struct definition_kernel {
    char name[PARAM_WORD_MAX];
    struct param_matrix k;
};

struct definition_bank {
    struct bank bank; /* bank.name is `name` */
    char name[PARAM_WORD_MAX];
    struct bank_filter *filters; /* owned: all four sets */
};

/* A calibration, by OpenCV's models of lenses. */
#define CAMERA_DISTORTION_MAX 12
struct definition_camera {
    char name[PARAM_WORD_MAX];
    double matrix[9]; /* fx 0 cx, 0 fy cy, 0 0 1 */
    unsigned n_distortion;
    double distortion[CAMERA_DISTORTION_MAX]; /* k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4; of a fisheye
                                                 k1 k2 k3 k4; zeros behind those that are given */
    bool fisheye;
    uint32_t width, height; /* of the pictures it was made with; 0: unknown */
};

/* A second picture, for stages that take one: at first the file's bytes, then (codec/pictures.h)
 * its samples. */
#define DEFINITION_PICTURES_MAX 16
#define PICTURE_FORMS           28
struct definition_picture {
    char name[PARAM_WORD_MAX];
    char *what;         /* for messages: "sluice.yaml:7:9: picture 'dark': dark.png"; owned */
    uint64_t at, size;  /* of the file's bytes in `file` */
    uint64_t hash;      /* of these bytes */
    struct plane plane; /* channels 0: it has not been decoded; width 0, where samples are not
                           needed: it suits pictures of any size */
    uint8_t *samples;   /* NULL: there are none; owned */
    uint64_t n_bytes;   /* of them */
    /* What stages have made of the samples, each when the first chain needs it, and kept
     * (stage/second/second.h). */
    pthread_mutex_t lock;
    struct definition_form {
        struct plane plane;
        uint8_t *samples; /* NULL: nothing has needed it; owned */
        uint64_t n_bytes;
    } forms[PICTURE_FORMS];
};

struct definitions {
    size_t n_kernels, n_banks, n_cameras, n_pictures;
    struct definition_kernel *kernels;
    struct definition_bank **banks;
    struct definition_camera *cameras;
    struct definition_picture **pictures;
    struct definition_file *file; /* NULL: there are no files of pictures */
};

/* The bytes of all pictures' files, in a memory file that processes share. */
struct definition_file {
    int fd;
    struct bytes bytes; /* mapped by definitions_map_file; before that size counts what was added */
};

/* True for 1 to DEFINITION_NAME_MAX letters, digits, `.`, `_` and `-`. */
bool definitions_is_name(const char *name, size_t length);

void definitions_finish(struct definitions *definitions);

/* Copies the kernel; takes over the bank's filters. Returns false without memory. */
bool definitions_add_kernel(struct definitions *definitions,
                            const struct definition_kernel *kernel);
bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank);
bool definitions_add_camera(struct definitions *definitions,
                            const struct definition_camera *camera);

/* Adds a picture without samples; `what` is copied. NULL without memory. */
struct definition_picture *definitions_add_picture(struct definitions *definitions,
                                                   const char *name, const char *what);

/* Appends a file's bytes, which become the picture's, from its descriptor. */
int definitions_add_file(struct definitions *definitions, struct definition_picture *picture,
                         int fd, struct fault *fault);

/* Takes over such a memory file from another process. */
int definitions_take_file(struct definitions *definitions, int fd, struct fault *fault);

/* Maps the bytes. From then on nobody can change them, or add others. */
int definitions_map_file(struct definitions *definitions, struct fault *fault);

/* Lets go of the bytes. */
void definitions_drop_file(struct definitions *definitions);

/* NULL when there is none; `definitions` may be NULL. */
const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name);
const struct bank *definitions_bank(const struct definitions *definitions, const char *name);
const struct definition_camera *definitions_camera(const struct definitions *definitions,
                                                   const char *name);
struct definition_picture *definitions_picture(const struct definitions *definitions,
                                               const char *name);

/* Bytes of the samples of all pictures. */
uint64_t definitions_picture_bytes(const struct definitions *definitions);

/* FAULT_CHAIN unless the numbers are a camera's; `what` owns them. */
int definitions_check_camera(const struct definition_camera *camera, const char *what,
                             struct fault *fault);

/* Finds the bank that a chain names: "cdf97", or "@thirds". FAULT_CHAIN lists the known ones. */
int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault);

#endif
