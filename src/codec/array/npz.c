/* The NPZ decoder, by libzip. The number of members is limited before libzip opens the archive,
 * because it allocates memory for as many as the directory claims. Arrays are read one at a time,
 * directly into their planes.
 *
 * With meta.json, the planes are those that it lists, in its order, and arrays must agree with it.
 * Without (numpy.savez), each array is a plane, in the archive's order. */
#include "codec/array/npz.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zip.h>

#include "base/deadline.h"
#include "base/number.h"
#include "codec/array/npy.h"
#include "codec/byte_order.h"
#include "codec/output.h"

#define MEMBERS_MAX (NPZ_PLANES_MAX + 1)
#define END_SIZE    22 /* bytes of the end record; a comment of up to 65535 bytes follows it */
#define LOCATOR     20 /* bytes of the ZIP64 locator, which precedes the end record */
#define END_64_SIZE 56 /* bytes of the ZIP64 end record */
#define WORKING     (1 << 20) /* libzip's and zlib's state, our buffers, a directory of MEMBERS_MAX */
#define JSON_FACTOR 32        /* an upper bound of bytes that the parser takes for a byte of text */

/* The array of a plane. */
struct npz_array {
    zip_uint64_t member; /* index in the archive */
    size_t begin;        /* offset of the first sample in the member, in bytes */
    bool swap;           /* samples have the other byte order than this processor */
    bool fortran;
};

struct npz_state {
    zip_t *zip;
    struct npz_array *arrays; /* owned; in the order of planes */
    size_t n_arrays;
    uint8_t buffer[NPY_BEGIN_MAX + NPY_HEADER_MAX]; /* a header, or samples in Fortran order */
};

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_MEMORY, "no memory for a decoder");
}

static int too_many(struct fault *fault)
{
    return fault_set(fault, FAULT_LIMIT, "an npz of more than %d members", MEMBERS_MAX);
}

static uint64_t load_le64(const uint8_t *at)
{
    return load_le32(at) | (uint64_t)load_le32(at + 4) << 32;
}

/* The number of members in the ZIP64 end record that belongs to the end record at `at`; 0: there is
 * none. */
static uint64_t zip64_members(const struct decoder *d, size_t at)
{
    if (at < LOCATOR || memcmp(d->data + at - LOCATOR, "PK\6\7", 4) != 0)
        return 0;
    uint64_t end = load_le64(d->data + at - LOCATOR + 8);
    if (end > d->size || d->size - end < END_64_SIZE)
        return 0;
    uint64_t here = load_le64(d->data + end + 24), all = load_le64(d->data + end + 32);
    return here > all ? here : all;
}

/* libzip allocates memory for as many members as the end record claims, and for each entry of the
 * directory. It may take any "PK\5\6" near the file's end for the end record, so all of them are
 * checked, and all entries ("PK\1\2") counted. */
static int check_directory(const struct decoder *d, struct fault *fault)
{
    size_t tail = d->size > END_SIZE + 65535 ? d->size - END_SIZE - 65535 : 0;
    size_t entries = 0;
    bool ends = false;
    for (const uint8_t *at = d->data + tail;
         (at = memmem(at, d->size - (size_t)(at - d->data), "PK\5\6", 4)) != NULL; at += 4) {
        ends |= d->size - (size_t)(at - d->data) >= END_SIZE;
        if (zip64_members(d, (size_t)(at - d->data)) > MEMBERS_MAX)
            return too_many(fault);
    }
    if (!ends)
        return fault_set(fault, FAULT_TRUNCATED,
                         "truncated npz: the file ends before its directory");
    for (const uint8_t *at = d->data;
         (at = memmem(at, d->size - (size_t)(at - d->data), "PK\1\2", 4)) != NULL; at += 4)
        if (++entries > MEMBERS_MAX)
            return too_many(fault);
    return 0;
}

/* libzip is loaded when the first archive is read: with what it needs in turn, libcrypto above all,
 * it takes a millisecond of each start. */
#define ZIP_FUNCTIONS(X)                                                                           \
    X(zip_discard)                                                                                 \
    X(zip_error_code_zip) X(zip_error_fini) X(zip_error_init) X(zip_error_strerror) X(zip_fclose)  \
        X(zip_file_get_error) X(zip_fopen_index) X(zip_fread) X(zip_get_error) X(zip_get_name)     \
            X(zip_get_num_entries) X(zip_name_locate) X(zip_open_from_source)                      \
                X(zip_source_buffer_create) X(zip_source_free) X(zip_stat_index)

static struct {
#define X(name) __typeof__(&name) name;
    ZIP_FUNCTIONS(X)
#undef X
    char fault[200];
} libzip;

static void load_libzip(void)
{
    void *library = dlopen(ZIP_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(libzip.fault, sizeof libzip.fault, "npz needs libzip: %.150s", dlerror());
#define X(name)                                                                                    \
    libzip.name = library ? (__typeof__(&name))dlsym(library, #name) : NULL;                       \
    if (library && !libzip.name)                                                                   \
        snprintf(libzip.fault, sizeof libzip.fault, ZIP_SONAME " lacks " #name);
    ZIP_FUNCTIONS(X)
#undef X
}

static int zip_fault(zip_error_t *error, const char *what, struct fault *fault)
{
    char text[64];
    enum fault_code code = FAULT_DATA;
    switch (libzip.zip_error_code_zip(error)) {
    case ZIP_ER_OK: /* libzip 1.7 sets no error when some allocations fail */
    case ZIP_ER_MEMORY:
        return no_memory(fault);
    case ZIP_ER_COMPNOTSUPP:
    case ZIP_ER_ENCRNOTSUPP:
    case ZIP_ER_NOPASSWD:
    case ZIP_ER_OPNOTSUPP:
    case ZIP_ER_MULTIDISK:
        code = FAULT_FORMAT;
    }
    snprintf(text, sizeof text, "%s npz: %.*s", code == FAULT_FORMAT ? "unsupported" : "damaged",
             NPZ_MEMBER_MAX, what);
    return codec_library_fault(fault, code, text, libzip.zip_error_strerror(error));
}

static int open_archive(struct decoder *d, struct fault *fault)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct npz_state *state = d->state;
    zip_error_t error;
    pthread_once(&once, load_libzip);
    if (libzip.fault[0])
        return fault_set(fault, FAULT_INTERNAL, "%s", libzip.fault);
    libzip.zip_error_init(&error);
    zip_source_t *source = libzip.zip_source_buffer_create(d->data, d->size, 0, &error);
    if (source)
        state->zip = libzip.zip_open_from_source(source, ZIP_RDONLY, &error);
    int result = state->zip ? 0 : zip_fault(&error, "its directory", fault);
    if (source && !state->zip)
        libzip.zip_source_free(source);
    libzip.zip_error_fini(&error);
    return result;
}

static const char *member_name(const struct npz_state *state, zip_uint64_t member)
{
    const char *name = libzip.zip_get_name(state->zip, member, ZIP_FL_ENC_RAW);
    return name ? name : "";
}

static int open_member(const struct npz_state *state, zip_uint64_t member, zip_file_t **file,
                       struct fault *fault)
{
    *file = libzip.zip_fopen_index(state->zip, member, 0);
    return *file ? 0
                 : zip_fault(libzip.zip_get_error(state->zip), member_name(state, member), fault);
}

/* Reads `size` bytes, or fewer if the member ends before; *got is how many. */
static int read_some(const struct npz_state *state, zip_uint64_t member, zip_file_t *file, void *to,
                     size_t size, size_t *got, struct fault *fault)
{
    for (*got = 0; *got < size;) {
        zip_int64_t n = libzip.zip_fread(file, (uint8_t *)to + *got, size - *got);
        if (n < 0)
            return zip_fault(libzip.zip_file_get_error(file), member_name(state, member), fault);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return deadline_check(fault);
}

static int member_size(const struct npz_state *state, zip_uint64_t member, uint64_t *size,
                       struct fault *fault)
{
    zip_stat_t stat;
    if (libzip.zip_stat_index(state->zip, member, 0, &stat) != 0)
        return zip_fault(libzip.zip_get_error(state->zip), member_name(state, member), fault);
    *size = stat.size;
    return 0;
}

static int read_header(struct npz_state *state, zip_uint64_t member, struct npy_header *header,
                       struct fault *fault)
{
    struct fault why = FAULT_INIT;
    zip_file_t *file;
    size_t got;
    int result = open_member(state, member, &file, fault);
    if (result != 0)
        return result;
    result = read_some(state, member, file, state->buffer, sizeof state->buffer, &got, fault);
    libzip.zip_fclose(file);
    if (result == 0 && npy_read_header(header, state->buffer, got, &why) != 0)
        result = fault_set(fault, why.code == FAULT_TRUNCATED ? FAULT_DATA : why.code,
                           "npz, %.40s: %s", member_name(state, member), why.text);
    return result;
}

/* Adds the plane that a member holds to the frame, without a name. */
static int add_array(struct decoder *d, zip_uint64_t member, uint32_t layers, struct fault *fault)
{
    struct npz_state *state = d->state;
    struct npy_header header;
    uint64_t size = 0;
    int result = read_header(state, member, &header, fault);
    if (result == 0)
        result = npy_add_plane(d, &header, layers, fault);
    if (result == 0)
        result = member_size(state, member, &size, fault);
    if (result != 0)
        return result;
    uint64_t whole = header.begin + plane_bytes(&d->frame.planes[d->frame.n_planes - 1]);
    if (size < whole)
        return fault_set(fault, FAULT_DATA, "damaged npz: %.40s is shorter than its array",
                         member_name(state, member));
    if (size > whole)
        result =
            decoder_warn(d, fault, "%.40s goes on behind its array", member_name(state, member));
    if (result != 0)
        return result;
    state->arrays[state->n_arrays++] = (struct npz_array){
        member, header.begin, header.big_endian != HOST_IS_BIG_ENDIAN, header.fortran};
    return 0;
}

/* Adds a plane that meta.json lists. */
static int take_plane_of_meta(struct decoder *d, const struct plane *told, struct fault *fault)
{
    struct npz_state *state = d->state;
    char name[NPZ_MEMBER_MAX];
    npz_member_name(told->name, name);
    zip_int64_t member = libzip.zip_name_locate(state->zip, name, ZIP_FL_ENC_RAW);
    if (member < 0)
        return fault_set(fault, FAULT_DATA, "damaged npz: %s lists %s, which is not there",
                         NPZ_META, name);
    for (size_t i = 0; i < state->n_arrays; i++)
        if (state->arrays[i].member == (zip_uint64_t)member)
            return fault_set(fault, FAULT_DATA, "damaged npz: %s lists %s twice", NPZ_META, name);
    int result = add_array(d, (zip_uint64_t)member, told->layers, fault);
    if (result != 0)
        return result;
    struct plane *plane = &d->frame.planes[d->frame.n_planes - 1];
    if (plane->width != told->width || plane->height != told->height ||
        plane->channels != told->channels || plane->layers != told->layers ||
        plane->type != told->type)
        return fault_set(fault, FAULT_DATA, "damaged npz: %s is %u×%u×%u %s, %s says %u×%u×%u %s",
                         name, plane->width, plane->height, plane->channels,
                         sample_name(plane->type), NPZ_META, told->width, told->height,
                         told->channels, sample_name(told->type));
    memcpy(plane->name, told->name, sizeof plane->name);
    plane->zero_x = told->zero_x;
    plane->zero_y = told->zero_y;
    plane->white = told->white;
    return 0;
}

static int add_frame_of_meta(struct decoder *d, const struct frame *told, struct fault *fault)
{
    struct npz_state *state = d->state;
    uint64_t there = (uint64_t)libzip.zip_get_num_entries(state->zip, 0) - 1;
    int result = 0;
    if (there < told->n_planes)
        return fault_set(fault, FAULT_DATA, "damaged npz: %s lists %zu planes, %llu are there",
                         NPZ_META, told->n_planes, (unsigned long long)there);
    if (there > told->n_planes)
        result = decoder_warn(d, fault, "%s lists %zu planes, %llu are there", NPZ_META,
                              told->n_planes, (unsigned long long)there);
    for (size_t i = 0; i < told->n_planes && result == 0; i++)
        result = take_plane_of_meta(d, &told->planes[i], fault);
    if (result != 0)
        return result;
    return frame_copy_origins(&d->frame, told) ? 0 : no_memory(fault);
}

static int read_meta(struct decoder *d, zip_uint64_t member, struct fault *fault)
{
    struct npz_state *state = d->state;
    struct frame told = {0};
    zip_file_t *file = NULL;
    uint64_t size = 0;
    size_t got;
    char *text = NULL;
    int result = member_size(state, member, &size, fault);
    if (result == 0 && size > NPZ_META_MAX)
        result = fault_set(fault, FAULT_LIMIT, "npz: %s is larger than %s", NPZ_META,
                           number_size(NPZ_META_MAX));
    if (result == 0 && !(text = malloc(size + 1)))
        result = no_memory(fault);
    if (result == 0)
        result = open_member(state, member, &file, fault);
    if (result == 0) { /* asks for one byte more: libzip compares the CRC at the end */
        result = read_some(state, member, file, text, size + 1, &got, fault);
        libzip.zip_fclose(file);
    }
    if (result == 0)
        result = npz_parse_meta(text, got, d->limits.max_pixels, &told, fault);
    free(text);
    d->working_memory += size * JSON_FACTOR;
    if (result == 0)
        result = add_frame_of_meta(d, &told, fault);
    frame_finish(&told);
    return result;
}

/* Adds the plane of a member of an archive without meta.json, if it is an array. */
static int take_plane(struct decoder *d, zip_uint64_t member, struct fault *fault)
{
    struct npz_state *state = d->state;
    const char *name = member_name(state, member);
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, ".npy") != 0)
        return decoder_warn(d, fault, "%.80s is passed over: it is no array (.npy)", name);
    length -= 4;
    if (!plane_is_name(name, length))
        return fault_set(fault, FAULT_FORMAT,
                         "unsupported npz: an array called '%.80s'; planes are called by up to %d "
                         "letters, digits and . _ -",
                         name, PLANE_NAME_MAX - 1);
    if (libzip.zip_name_locate(state->zip, name, ZIP_FL_ENC_RAW) != (zip_int64_t)member)
        return fault_set(fault, FAULT_DATA, "damaged npz: two arrays are called %s", name);
    int result = add_array(d, member, 0, fault);
    if (result == 0)
        memcpy(d->frame.planes[d->frame.n_planes - 1].name, name, length);
    return result;
}

static int add_frame(struct decoder *d, zip_uint64_t members, struct fault *fault)
{
    if (members == 0 || members > NPZ_PLANES_MAX)
        return members ? too_many(fault)
                       : fault_set(fault, FAULT_DATA, "damaged npz: no array is in it");
    for (zip_uint64_t i = 0; i < members; i++) {
        int result = take_plane(d, i, fault);
        if (result != 0)
            return result;
    }
    if (d->frame.n_planes == 0)
        return fault_set(fault, FAULT_FORMAT, "unsupported npz: no array (.npy) is in it");
    if (d->frame.n_planes == 1 && strcmp(d->frame.planes[0].name, "image") == 0)
        d->frame.planes[0].name[0] = '\0'; /* see npz_member_name */
    return 0;
}

static int open_npz(struct decoder *d, struct fault *fault)
{
    struct npz_state *state = d->state;
    d->whole = true; /* it may have several planes */
    int result = check_directory(d, fault);
    if (result == 0)
        result = open_archive(d, fault);
    if (result != 0)
        return result;
    zip_uint64_t members = (zip_uint64_t)libzip.zip_get_num_entries(state->zip, 0);
    zip_int64_t meta = libzip.zip_name_locate(state->zip, NPZ_META, ZIP_FL_ENC_RAW);
    if (members > MEMBERS_MAX)
        return too_many(fault);
    state->arrays = calloc(members + 1, sizeof *state->arrays);
    if (!state->arrays)
        return no_memory(fault);
    d->working_memory = WORKING;
    return meta >= 0 ? read_meta(d, (zip_uint64_t)meta, fault) : add_frame(d, members, fault);
}

static int ends_early(const struct npz_state *state, zip_uint64_t member, struct fault *fault)
{
    return fault_set(fault, FAULT_DATA, "damaged npz: %.40s ends before its array does",
                     member_name(state, member));
}

static int read_rows(struct npz_state *state, const struct npz_array *array, zip_file_t *file,
                     const struct picture *into, size_t index, struct fault *fault)
{
    const struct plane *plane = &into->frame.planes[index];
    size_t size = sample_size(plane->type), samples = (size_t)plane->width * plane->channels;
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = picture_row(into, index, y);
        size_t got;
        int result = read_some(state, array->member, file, row, samples * size, &got, fault);
        if (result == 0 && got < samples * size)
            result = ends_early(state, array->member, fault);
        if (result != 0)
            return result;
        if (array->swap && size > 1)
            sample_copy(row, row, samples, size, true);
    }
    return 0;
}

static int read_columns(struct npz_state *state, const struct npz_array *array, zip_file_t *file,
                        const struct picture *into, size_t index, struct fault *fault)
{
    const struct plane *plane = &into->frame.planes[index];
    size_t size = sample_size(plane->type);
    uint64_t total = plane_bytes(plane) / size;
    for (uint64_t at = 0; at < total;) {
        uint64_t left = total - at;
        size_t most = sizeof state->buffer / 8, n = left < most ? (size_t)left : most, got;
        int result = read_some(state, array->member, file, state->buffer, n * size, &got, fault);
        if (result == 0 && got < n * size)
            result = ends_early(state, array->member, fault);
        if (result != 0)
            return result;
        for (size_t i = 0; i < n; i++, at++) {
            uint32_t y;
            size_t place = npy_fortran_place(plane, at, &y);
            sample_copy((uint8_t *)picture_row(into, index, y) + place * size,
                        state->buffer + i * size, 1, size, array->swap);
        }
    }
    return 0;
}

static int read_array(struct npz_state *state, const struct npz_array *array,
                      const struct picture *into, size_t index, struct fault *fault)
{
    zip_file_t *file;
    size_t got;
    int result = open_member(state, array->member, &file, fault);
    if (result != 0)
        return result;
    result = read_some(state, array->member, file, state->buffer, array->begin, &got, fault);
    if (result == 0 && array->fortran)
        result = read_columns(state, array, file, into, index, fault);
    else if (result == 0)
        result = read_rows(state, array, file, into, index, fault);
    if (result == 0) /* reads to the member's end, where libzip compares the CRC */
        result =
            read_some(state, array->member, file, state->buffer, sizeof state->buffer, &got, fault);
    libzip.zip_fclose(file);
    return result;
}

static int read_npz(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct npz_state *state = d->state;
    int result = 0;
    for (size_t i = 0; i < state->n_arrays && result == 0; i++)
        result = read_array(state, &state->arrays[i], into, i, fault);
    return result;
}

static void close_npz(struct decoder *d)
{
    struct npz_state *state = d->state;
    if (state->zip)
        libzip.zip_discard(state->zip);
    free(state->arrays);
}

static const struct param params[] = {
    PARAM(INTEGER, "level", offsetof(struct npz_config, level),
          "0 stores arrays as they are; 1 to 9 deflate them, fast to small", RANGE(0, 9),
          DEFAULT("0")),
    {0},
};

static const char *const extensions[] = {"npz", NULL};

const struct codec codec_npz = {
    .name = "npz",
    .extensions = extensions,
    .media_type = "application/zip",
    .probe = probe,
    .state_size = sizeof(struct npz_state),
    .open = open_npz,
    .read = read_npz,
    .close = close_npz,
    .params = params,
    .config_size = sizeof(struct npz_config),
    .fit = fit_any,
    .holds_frame = true,
    .encoder_size = sizeof(struct npz_writer),
    .encode = npz_encode,
    .encode_close = npz_encode_close,
};
