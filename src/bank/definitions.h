/* What a configuration defines for @names in chains: kernels of fir, filter banks, and cameras.
 * Chains point to them, so definitions must outlive every chain that was read with them. One thread fills them;
 * then any may read. */
#ifndef SLUICE_BANK_DEFINITIONS_H
#define SLUICE_BANK_DEFINITIONS_H

#include "bank/bank.h"
#include "param/param.h"

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

struct definitions {
    size_t n_kernels, n_banks, n_cameras;
    struct definition_kernel *kernels;
    struct definition_bank **banks;
    struct definition_camera *cameras;
};

void definitions_finish(struct definitions *definitions);

/* Copies the kernel; takes over the bank's filters. Returns false without memory. */
bool definitions_add_kernel(struct definitions *definitions,
                            const struct definition_kernel *kernel);
bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank);
bool definitions_add_camera(struct definitions *definitions,
                            const struct definition_camera *camera);

/* NULL when there is none; `definitions` may be NULL. */
const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name);
const struct bank *definitions_bank(const struct definitions *definitions, const char *name);
const struct definition_camera *definitions_camera(const struct definitions *definitions,
                                                   const char *name);

/* FAULT_CHAIN unless the numbers are a camera's; `what` owns them. */
int definitions_check_camera(const struct definition_camera *camera, const char *what,
                             struct fault *fault);

/* Finds the bank that a chain names: "cdf97", or "@thirds". FAULT_CHAIN lists the known ones. */
int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault);

#endif
