/* sluice as a library: frames through chains of stages, on a GPU or on the processor.
 *
 *     device   where chains run: native (the processor), or one of OpenCL's
 *     chain    what is done, from its text: "luminance,sobel"
 *     plan     a chain for frames of one layout, on one device
 *     memory   where a frame lies: the caller's bytes, or a dma-buf
 *     run      a plan computes from one memory into another
 *
 * A plan is made once, when the layout of frames is known; from then on nothing is compiled, and
 * each frame is sluice_process(plan, in, out, …). docs/library.md has a complete program.
 *
 * Objects are opaque and counted: what makes one gives the caller a reference, sluice_X_ref adds
 * one, sluice_X_unref gives one back and clears the pointer (it takes NULL). A chain keeps its
 * definitions, a plan its chain and its device, a memory its device, a run its plan and memories.
 *
 * Threads: every function may be called from any thread, and a device, chain, plan or memory may be
 * used by several at once. What a struct or an object is still being filled by belongs to one
 * thread. After fork() a child must not use objects of its parent.
 *
 * Structs that begin with `size` may grow: the caller sets it to sizeof before each call, as
 * SLUICE_INIT does, and members beyond it are taken as 0 and not written. Strings that a struct is
 * given with must live until the call returns; strings that a struct points to after a call live as
 * long as the object that was asked, or, if none was, as long as the process.
 *
 * Errors: functions that can fail return 0, or a negative SLUICE_E_…, and fill their last argument,
 * a struct sluice_error, which may be NULL. Nothing is printed, and the process stays as it is: no
 * environment variable, signal, handler, umask or allocator setting is changed, nothing is run at
 * exit, and no failure ends the process. Three things are left to programs that want OpenCL
 * drivers, to be set before the first device is listed or opened:
 *
 *     POCL_SIGFPE_HANDLER=0   else PoCL takes over SIGFPE
 *     POCL_CACHE_DIR=…        where PoCL keeps compiled kernels (its default is below $HOME)
 *     RUSTICL_ENABLE=panfrost else Mesa does not offer Mali
 *
 * Drivers have threads of their own, and a compiler in a driver may install handlers of signals.
 *
 * ABI: libsluice.so.0 until version 1.0. Numbers of enums are never used again for another
 * meaning; symbols carry the version SLUICE_0. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_API __attribute__((visibility("default")))

/* A struct's first value: struct sluice_error error = SLUICE_INIT(error); */
#ifdef __cplusplus
#define SLUICE_INIT(variable)                                                                      \
    {                                                                                              \
        sizeof(variable)                                                                           \
    }
#else
#define SLUICE_INIT(variable)                                                                      \
    {                                                                                              \
        .size = sizeof(variable)                                                                   \
    }
#endif

/* "0.1.0": of the library that runs. */
SLUICE_API const char *sluice_version(void);

/* ---- errors ---- */

enum sluice_code {
    SLUICE_E_USAGE = -1,     /* an argument of the call is wrong */
    SLUICE_E_CHAIN = -2,     /* the chain's text is wrong; position and length mark the place */
    SLUICE_E_SHAPE = -3,     /* a valid chain that cannot take such frames */
    SLUICE_E_LIMIT = -4,     /* a limit was exceeded, which the message names */
    SLUICE_E_NO_DEVICE = -5, /* there is no such device */
    SLUICE_E_DEVICE = -6,    /* the device, or its driver, failed */
    SLUICE_E_MEMORY = -7,    /* out of memory */
    SLUICE_E_IMPORT = -8,    /* the device does not take this memory in place; it would have to be
                                copied */
    SLUICE_E_INTERNAL = -9   /* a defect of sluice */
};

struct sluice_error {
    size_t size;
    int code;             /* SLUICE_E_… */
    int position, length; /* the place in the chain's text, in bytes; position −1: none */
    char word[24];        /* the code as a word that never changes: "chain", "shape" */
    char message[480];    /* one sentence, without line end; UTF-8 */
};

/* Writes the message for people, with the place in `text` shown below it where there is one (text
 * NULL: it is left out); at most `room` bytes with the NUL. Returns how many bytes it takes without
 * the NUL, as snprintf does. */
SLUICE_API size_t sluice_error_print(const struct sluice_error *error, const char *text, char *to,
                                     size_t room);

/* ---- devices ---- */

struct sluice_device;

enum sluice_level {
    SLUICE_LOG_ERROR = 0,
    SLUICE_LOG_WARNING = 1,
    SLUICE_LOG_INFO = 2,
    SLUICE_LOG_DEBUG = 3
};

/* Takes a line (no line end) about a device: compiled programs, caches, drivers' complaints. Called
 * on the thread that is in a function of this library, which must not be called from here. */
typedef void sluice_log(void *context, int level, const char *line);

struct sluice_device_options {
    size_t size;
    const char *select; /* auto, gpu, native, cpu (OpenCL on the processor), reference (the plain
                           definitions in C: slow), or a part of a device's or platform's name;
                           NULL: auto, the best that there is */
    unsigned threads;   /* of native, the calling one included; 0: one for each processor. Others
                           start with the first frame that is large enough to be shared */
    const char *cache;  /* directory for compiled programs; NULL: SLUICE_CACHE_DIR, CACHE_DIRECTORY,
                           XDG_CACHE_HOME/sluice or ~/.cache/sluice; "": none is kept. One for the
                           process: the first device of OpenCL decides */
    uint64_t pool;      /* bytes of idle memory that are kept for the next run; 0: 256 MiB */
    sluice_log *log;    /* NULL: lines are dropped */
    void *log_context;
};

struct sluice_device_info {
    size_t size;
    char kind[16]; /* "native", "gpu", "accelerator", "cpu", "reference" */
    char name[128], platform[128], driver[128];
    unsigned threads;   /* of native; else what the driver counts */
    unsigned in_flight; /* so many runs at once keep it busy: 1 on native, 2 on others */
    uint64_t memory;    /* bytes it has */
    uint64_t largest;   /* bytes of one frame at most */
    int in_place;       /* 1: it computes where the caller's bytes lie; 0: it copies them, or
                           imports dma-bufs */
};

/* Lists the devices that there are, best first, as far as `list` has room; *count becomes how many
 * there are. Loads OpenCL with all its drivers. list[0].size is the size of each. */
SLUICE_API int sluice_device_list(struct sluice_device_info *list, size_t room, size_t *count,
                                  struct sluice_error *error);

/* Opens a device; `options` may be NULL. Opening native takes some microseconds, a GPU up to a
 * second. */
SLUICE_API int sluice_device_open(struct sluice_device **device,
                                  const struct sluice_device_options *options,
                                  struct sluice_error *error);
SLUICE_API struct sluice_device *sluice_device_ref(struct sluice_device *device);
SLUICE_API void sluice_device_unref(struct sluice_device **device);
SLUICE_API void sluice_device_get_info(const struct sluice_device *device,
                                       struct sluice_device_info *info);

/* ---- definitions: what @names in chains refer to ---- */

/* A name has 1 to 62 letters, digits, `.`, `_` and `-`. */

struct sluice_definitions;

SLUICE_API int sluice_definitions_create(struct sluice_definitions **definitions,
                                         struct sluice_error *error);
SLUICE_API struct sluice_definitions *sluice_definitions_ref(struct sluice_definitions *);
SLUICE_API void sluice_definitions_unref(struct sluice_definitions **definitions);

/* Adds a kernel for fir, row by row, sides of 1 to 63: "fir:@name". To be called before the first
 * chain is parsed with these definitions. */
SLUICE_API int sluice_definitions_add_kernel(struct sluice_definitions *definitions,
                                             const char *name, unsigned columns, unsigned rows,
                                             const double *values, struct sluice_error *error);

/* Adds a camera for undistort, by OpenCV's models: "undistort:@name". `matrix` is fx 0 cx, 0 fy cy,
 * 0 0 1; `distortion` has 1 to 12 numbers, k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4, or with `fisheye` (1)
 * up to four, k1 k2 k3 k4. Width and height are those of the pictures it was calibrated with; 0: any. */
SLUICE_API int sluice_definitions_add_camera(struct sluice_definitions *definitions,
                                             const char *name, unsigned width, unsigned height,
                                             const double matrix[9], int fisheye,
                                             const double *distortion, unsigned n_distortion,
                                             struct sluice_error *error);

/* Adds a second picture for subtract, difference, divide, mask and blend: "subtract:@name". The layout,
 * of one plane of SLUICE_PLANES, says where its samples lie in `data`; they are copied. */
struct sluice_layout;
SLUICE_API int sluice_definitions_add_picture(struct sluice_definitions *definitions,
                                              const char *name, const struct sluice_layout *layout,
                                              const void *data, struct sluice_error *error);

/* A filter of a bank; sluice-chain(7) has the definitions of zero and shift. */
struct sluice_filter {
    const double *taps;
    unsigned n_taps; /* 1 to 128 */
    int zero, shift;
};

/* The filters for one direction of a picture: n_filters (1 to 16) of each, with the sampling factor
 * (1 to 16). */
struct sluice_bank {
    unsigned factor, n_filters;
    const struct sluice_filter *analysis, *synthesis;
};

/* Adds a filter bank; `vertical` NULL: as `horizontal`. SLUICE_E_USAGE when it does not
 * reconstruct, unless it is `lossy` (1). */
SLUICE_API int sluice_definitions_add_bank(struct sluice_definitions *definitions, const char *name,
                                           const struct sluice_bank *horizontal,
                                           const struct sluice_bank *vertical, int lossy,
                                           struct sluice_error *error);

/* ---- chains ---- */

struct sluice_chain;

/* Parses a chain; blank text is a chain that does nothing. `definitions` may be NULL. All mistakes
 * are reported, in the order of the text, as far as `errors` has room: errors[0].size is the size
 * of each, and those that are not needed get the code 0. Returns the first one's code. */
SLUICE_API int sluice_chain_parse(struct sluice_chain **chain, const char *text,
                                  struct sluice_definitions *definitions,
                                  struct sluice_error *errors, size_t n_errors);
SLUICE_API struct sluice_chain *sluice_chain_ref(struct sluice_chain *chain);
SLUICE_API void sluice_chain_unref(struct sluice_chain **chain);

/* The canonical text, with every parameter; and the short one, with those alone that differ from
 * their defaults. Both read back as the same chain. */
SLUICE_API const char *sluice_chain_text(const struct sluice_chain *chain);
SLUICE_API const char *sluice_chain_short(const struct sluice_chain *chain);

/* ---- stages as data ---- */

struct sluice_stage {
    size_t size;
    const char *name, *summary;
    unsigned n_parameters;
};

enum sluice_kind {
    SLUICE_INTEGER = 1,
    SLUICE_REAL = 2,
    SLUICE_FLAG = 3,    /* 0 or 1 */
    SLUICE_CHOICE = 4,  /* a word of `choices` */
    SLUICE_NUMBERS = 5, /* 1_2.5_3, or a word of `choices` */
    SLUICE_MATRIX = 6,  /* 1_2_1/2_4_2/1_2_1, a word of `choices`, or @name */
    SLUICE_WORDS = 7    /* one or several, as `allowed` says */
};

#define SLUICE_CHOICES 128

struct sluice_parameter {
    size_t size;
    const char *name, *help;
    const char *fallback; /* the default as text; NULL: unset unless given */
    int kind;             /* enum sluice_kind; a SLUICE_REAL may have `choices`, too */
    int required;
    int limited; /* 1: min and max are limits of each number */
    double min, max;
    unsigned n_choices;
    const char *choices[SLUICE_CHOICES]; /* aliases included */
    char allowed[1024];                  /* for people: "a number from 1 to 4095" */
};

/* The stage of that index, in alphabetical order. SLUICE_E_USAGE: there are fewer. */
SLUICE_API int sluice_stage_get(size_t index, struct sluice_stage *stage);

/* The parameter of that index of stage `name`, in the order in which they may be given without
 * their names. SLUICE_E_USAGE: there is no such stage, or it has fewer. */
SLUICE_API int sluice_stage_parameter(const char *name, size_t index,
                                      struct sluice_parameter *parameter);

/* ---- layouts ---- */

enum sluice_type {
    SLUICE_U8 = 1,
    SLUICE_I8 = 2,
    SLUICE_U16 = 3, /* in the processor's byte order, as all that follow */
    SLUICE_I16 = 4,
    SLUICE_I32 = 5,
    SLUICE_F32 = 6,
    SLUICE_F64 = 7,
    SLUICE_F16 =
        8 /* of IEEE 754; what convert makes and takes, and stages that only move samples take */
};

/* What the bytes of a frame are. Video formats other than SLUICE_PLANES are for inputs; a chain
 * sees them as pictures: those of YCbCr as RGB of u8, those without alpha as 3 channels. */
enum sluice_format {
    SLUICE_PLANES = 0, /* as struct sluice_plane says */
    SLUICE_NV12 = 1,   /* planes Y, CbCr; each pair of rows and columns shares its CbCr */
    SLUICE_NV21 = 2,   /* planes Y, CrCb */
    SLUICE_I420 = 3,   /* planes Y, Cb, Cr */
    SLUICE_YUY2 = 4,   /* Y0 Cb Y1 Cr for each two pixels of a row */
    SLUICE_UYVY = 5,   /* Cb Y0 Cr Y1 */
    SLUICE_GRAY8 = 6,
    SLUICE_GRAY16_LE = 7,
    SLUICE_RGB = 8,
    SLUICE_BGR = 9,
    SLUICE_RGBX = 10, /* the fourth byte means nothing */
    SLUICE_BGRX = 11,
    SLUICE_RGBA = 12,
    SLUICE_BGRA = 13,
    SLUICE_NV16 = 14,  /* planes Y, CbCr; each pair of columns shares its CbCr */
    SLUICE_P010 = 15,  /* as NV12, in 16 bits of which the upper 10 count; the picture is RGB of u16 */
    SLUICE_RAW10 = 16, /* a sensor's numbers of 10 bits, packed as CSI-2 has them: four pixels are 5
                          bytes, the upper 8 bits of each, then the others, the first pixel's lowest;
                          the picture is grey of u16, 0 to 1023. V4L2's …10P */
    SLUICE_RAW12 = 17  /* the same of 12 bits, two pixels in 3 bytes; 0 to 4095. V4L2's …12P */
};

/* How Y, Cb and Cr follow from R, G and B. */
enum sluice_matrix {
    SLUICE_BT601 = 0,
    SLUICE_BT709 = 1,
    SLUICE_BT2020 = 2 /* non-constant luminance */
};

enum sluice_range {
    SLUICE_LIMITED = 0, /* Y 16 to 235, Cb and Cr 16 to 240; of 10 bits four times that */
    SLUICE_FULL = 1     /* 0 to 255, as in JPEG, or 0 to 1023 */
};

/* Rows of pixels. `width` times `channels` samples of a row lie one behind the other. */
struct sluice_plane {
    char name[32];          /* "" for the plane of a picture; bands of transforms have names */
    uint32_t width, height; /* in pixels, at least 1 */
    uint32_t channels;      /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    uint32_t type;          /* enum sluice_type */
    double white;           /* of floats: the value that means full; 0: 255 */
    size_t offset;          /* of the first row, in bytes from the beginning of the memory */
    size_t stride;          /* from row to row, in bytes */
    int32_t zero_x, zero_y; /* position of index 0; for planes of filter banks alone */
    uint32_t layers; /* from 1: a tensor of so many planes of equal height below each other, which
                        `height` counts together (convert:layout=chw); else 0 */
    uint32_t reserved_1;  /* 0 */
    uint64_t reserved[1]; /* 0 */
};

/* What a frame is and where its rows lie in a memory. Offsets, strides and the address of the
 * memory are multiples of a sample's size; any such are taken. */
struct sluice_layout {
    size_t size;
    int format; /* enum sluice_format */
    /* SLUICE_PLANES: the caller's array */
    struct sluice_plane *planes;
    size_t n_planes;
    /* the others */
    uint32_t width, height;
    int matrix, range; /* of YCbCr: enum sluice_matrix, enum sluice_range */
    size_t offset[4], stride[4];
};

/* Sets the offsets and strides of all planes: one behind the other, rows at multiples of
 * `alignment`, a power of two (1: packed). Returns the bytes that a memory needs, 0 where the
 * layout is not valid. */
SLUICE_API size_t sluice_layout_fill(struct sluice_layout *layout, size_t alignment);

/* The bytes that a memory for the layout needs at least; 0 where it is not valid. */
SLUICE_API size_t sluice_layout_bytes(const struct sluice_layout *layout);

/* What comes out of a chain for frames of the layout `in`; no device is needed. `out` is given with
 * an array of n_planes planes. As many planes as that has room for are filled, packed behind each
 * other in rows at multiples of 128 bytes, and n_planes becomes how many there are. The format is
 * always SLUICE_PLANES: one plane of u8 with 1, 3 or 4 channels is GRAY8, RGB or RGBA, one of u16
 * with 1 channel GRAY16. SLUICE_E_SHAPE says what the chain does not take, and why. */
SLUICE_API int sluice_chain_result(const struct sluice_chain *chain, const struct sluice_layout *in,
                                   struct sluice_layout *out, struct sluice_error *error);

/* ---- plans ---- */

struct sluice_plan;

enum sluice_plan_flags {
    SLUICE_IMPORT_IN = 1, /* inputs are dma-bufs, which the device is to read where they lie */
    SLUICE_IMPORT_OUT = 2 /* results are dma-bufs */
};

/* Plans the chain for frames of the layout `in`, and compiles what the device needs. `out` NULL:
 * the result lies as sluice_chain_result says. Otherwise it has the planes of that, at other
 * offsets and strides. Without flags any memory is taken. Some tens of microseconds on native;
 * seconds where a GPU has to compile. */
SLUICE_API int sluice_plan_create(struct sluice_plan **plan, struct sluice_chain *chain,
                                  struct sluice_device *device, const struct sluice_layout *in,
                                  const struct sluice_layout *out, unsigned flags,
                                  struct sluice_error *error);
SLUICE_API struct sluice_plan *sluice_plan_ref(struct sluice_plan *plan);
SLUICE_API void sluice_plan_unref(struct sluice_plan **plan);

struct sluice_plan_info {
    size_t size;
    size_t in_bytes, out_bytes; /* that memories need */
    size_t scratch;             /* bytes of memory for each run besides */
    unsigned n_planes;          /* of the result */
    unsigned n_launches;        /* of kernels in a run */
    int computes; /* 0: the result's samples are the input's where they lie (sluice_plan_view) */
    const char *warning; /* what the user of the chain should know; NULL: nothing */
};
SLUICE_API void sluice_plan_get_info(const struct sluice_plan *plan, struct sluice_plan_info *info);

/* Where the result lies in the memory that runs are given for it: as sluice_chain_result. */
SLUICE_API int sluice_plan_result(const struct sluice_plan *plan, struct sluice_layout *out,
                                  struct sluice_error *error);

/* For a plan that computes nothing (no stage, a lone crop, luminance of grey, or of a frame's own
 * full-range Y): where the result lies in the *input's* memory. Who can pass that memory on needs
 * no run, which would copy it. SLUICE_E_USAGE: the plan computes. */
SLUICE_API int sluice_plan_view(const struct sluice_plan *plan, struct sluice_layout *out,
                                struct sluice_error *error);

/* ---- memory ---- */

struct sluice_memory;

enum sluice_access {
    SLUICE_READ = 1, /* inputs */
    SLUICE_WRITE = 2 /* results */
};

/* Registers `bytes` of the caller's memory, which must stay until the last reference is given back
 * and all runs with it have been waited for. Cheap: no page is touched. */
SLUICE_API int sluice_memory_wrap(struct sluice_memory **memory, struct sluice_device *device,
                                  void *data, size_t bytes, unsigned access,
                                  struct sluice_error *error);

/* Registers a dma-buf, whose descriptor is duplicated, of linear layout. On native it is mapped,
 * and handed over and back for each run (DMA_BUF_IOCTL_SYNC). Other devices import it where their
 * driver passes a probe, made once for a device and driver and remembered in the cache directory:
 * it looks whether what one side writes the other one sees. SLUICE_E_IMPORT: the driver refuses
 * it, or copies it, or shows stale bytes; the message says which. */
SLUICE_API int sluice_memory_import(struct sluice_memory **memory, struct sluice_device *device,
                                    int fd, size_t bytes, unsigned access,
                                    struct sluice_error *error);
SLUICE_API struct sluice_memory *sluice_memory_ref(struct sluice_memory *memory);
SLUICE_API void sluice_memory_unref(struct sluice_memory **memory);

/* ---- runs ---- */

/* Where a run's time went; nanoseconds. */
struct sluice_times {
    size_t size;
    uint64_t total;   /* from the call until the result was there */
    uint64_t queue;   /* until the device began */
    uint64_t kernels; /* that launches ran, by the device's own clock */
    uint64_t copies;  /* copying to the device and back */
    uint64_t bytes_copied;
    unsigned n_launches;
};

/* Computes a frame and waits for it. Of `in` and `out` the bytes of the plan's layouts are used,
 * from the beginning; nothing is written between rows and planes, nor behind them. The two must not
 * overlap. `times` may be NULL. */
SLUICE_API int sluice_process(struct sluice_plan *plan, struct sluice_memory *in,
                              struct sluice_memory *out, struct sluice_times *times,
                              struct sluice_error *error);

struct sluice_run;

/* Begins a run; sluice_wait must follow, in any order. Until then `in` must not change, and `out`
 * must not be used. On native the thread that waits computes; on others the device does meanwhile.
 */
SLUICE_API int sluice_start(struct sluice_run **run, struct sluice_plan *plan,
                            struct sluice_memory *in, struct sluice_memory *out,
                            struct sluice_error *error);

/* Waits for the run, ends it and clears the pointer, whatever is returned. */
SLUICE_API int sluice_wait(struct sluice_run **run, struct sluice_times *times,
                           struct sluice_error *error);

/* ---- rows in, rows out ---- */

struct sluice_rows;

/* Begins a picture that need not exist as a whole: its rows are put as they come, and those of its
 * result taken as they are computed, both in order, from the top. `in` has one plane, of which
 * offset and stride do not matter; the result is one plane, as sluice_chain_result says. Of a
 * picture of a megabyte or more as few rows are held as the chain needs; stages that need the whole
 * hold planes, and so do small pictures. Rows are copied in and out. Not for the references
 * (SLUICE_E_USAGE). One thread at a time; other threads may have pictures of their own. */
SLUICE_API int sluice_rows_begin(struct sluice_rows **rows, struct sluice_chain *chain,
                                 struct sluice_device *device, const struct sluice_layout *in,
                                 struct sluice_error *error);

/* Puts up to `count` rows, each `stride` bytes behind the one before. `taken` becomes how many went
 * in: fewer, maybe none, where rows of the result have to be taken first. */
SLUICE_API int sluice_rows_put(struct sluice_rows *rows, const void *data, size_t stride,
                               unsigned count, unsigned *taken, struct sluice_error *error);

/* Takes up to `count` rows of the result; nothing is written between them. `given` becomes how many
 * there were: fewer, maybe none, where rows have to be put first, or behind the last one. After an
 * error of either call rows can only be ended. */
SLUICE_API int sluice_rows_take(struct sluice_rows *rows, void *data, size_t stride, unsigned count,
                                unsigned *given, struct sluice_error *error);

/* The most memory that is held, in bytes. */
SLUICE_API size_t sluice_rows_memory(const struct sluice_rows *rows);

/* Gives all up, at any time, and clears the pointer. */
SLUICE_API void sluice_rows_end(struct sluice_rows **rows);

#ifdef __cplusplus
}
#endif

#endif
