/* Cameras: the file of a calibration, as OpenCV's FileStorage (YAML, JSON) or ROS writes it, or the
 * same keys in the configuration itself.
 *
 *     cameras:
 *       front: calibration/front.yaml
 *       back:  {camera_matrix: [800, 0, 640, 0, 800, 360, 0, 0, 1], distortion_coefficients: [-0.2,
 * 0.05]}
 *
 * Such files have tags and more than is asked for here, so they are not read by reader.h's tables.
 */
#include "config/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bank/definitions.h"
#include "base/file.h"
#include "config/config.h"

#define CAMERA_FILE_MAX (1u << 20)
#define DEPTH_MAX       4

/* The value of the first of these keys, which are separated by blanks; NULL: there is none. */
static yaml_node_t *find(yaml_document_t *document, const yaml_node_t *mapping, const char *keys)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (; *keys; keys += strcspn(keys, " "), keys += strspn(keys, " ")) {
        size_t length = strcspn(keys, " ");
        for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
             pair < mapping->data.mapping.pairs.top; pair++) {
            const yaml_node_t *key = yaml_document_get_node(document, pair->key);
            if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == length &&
                memcmp(key->data.scalar.value, keys, length) == 0)
                return yaml_document_get_node(document, pair->value);
        }
    }
    return NULL;
}

static const char *text_of(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

/* The numbers of a list, of lists in it, or of a matrix with `data`. False: others, or more than
 * `most`. */
static bool numbers(yaml_document_t *document, const yaml_node_t *node, double *to, unsigned most,
                    unsigned *n, int depth)
{
    const yaml_node_t *data = find(document, node, "data");
    if (data)
        return numbers(document, data, to, most, n, depth + 1);
    if (!node || depth > DEPTH_MAX)
        return false;
    if (node->type == YAML_SCALAR_NODE) {
        char *end;
        const char *text = text_of(node);
        double v = strtod(text, &end);
        if (*n >= most || end == text || *end)
            return false;
        to[(*n)++] = v;
        return true;
    }
    if (node->type != YAML_SEQUENCE_NODE)
        return false;
    for (const yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++)
        if (!numbers(document, yaml_document_get_node(document, *item), to, most, n, depth + 1))
            return false;
    return true;
}

static int read_size(yaml_document_t *document, const yaml_node_t *root, const char *keys,
                     uint32_t *size, struct fault *fault)
{
    const yaml_node_t *node = find(document, root, keys);
    double v = 0;
    unsigned n = 0;
    if (node && (!numbers(document, node, &v, 1, &n, 0) || n != 1 || !(v >= 0 && v <= 1e6) ||
                 v != (double)(uint32_t)v))
        return fault_set(fault, FAULT_CONFIG, "%.*s: expected a number of pixels",
                         (int)strcspn(keys, " "), keys);
    *size = (uint32_t)v;
    return 0;
}

/* Reads the keys of a calibration. */
static int read_calibration(yaml_document_t *document, const yaml_node_t *root,
                            struct definition_camera *camera, struct fault *fault)
{
    unsigned n = 0;
    if (!numbers(document, find(document, root, "camera_matrix cameraMatrix K"), camera->matrix, 9,
                 &n, 0) ||
        n != 9)
        return fault_set(fault, FAULT_CONFIG, "camera_matrix: expected 9 numbers, row by row");
    double distortion[14] = {0}; /* of OpenCV's the last two tilt the sensor */
    n = 0;
    if (!numbers(document,
                 find(document, root,
                      "distortion_coefficients distCoeffs dist_coeffs distortion_coeffs D"),
                 distortion, 14, &n, 0) ||
        n == 0)
        return fault_set(fault, FAULT_CONFIG,
                         "distortion_coefficients: expected 1 to %d numbers, k1 k2 p1 p2 k3 …",
                         CAMERA_DISTORTION_MAX);
    if (distortion[12] != 0 || distortion[13] != 0)
        return fault_set(fault, FAULT_CONFIG,
                         "distortion_coefficients: those of a tilted sensor are not supported");
    camera->n_distortion = n < CAMERA_DISTORTION_MAX ? n : CAMERA_DISTORTION_MAX;
    memcpy(camera->distortion, distortion, sizeof camera->distortion);
    const char *model = text_of(find(document, root, "distortion_model"));
    const char *fisheye = text_of(find(document, root, "fisheye_model"));
    if (*model && strcmp(model, "plumb_bob") != 0 && strcmp(model, "rational_polynomial") != 0 &&
        strcmp(model, "pinhole") != 0 && strcmp(model, "equidistant") != 0 &&
        strcmp(model, "fisheye") != 0)
        return fault_set(fault, FAULT_CONFIG,
                         "distortion_model: '%.40s': expected plumb_bob, rational_polynomial, "
                         "equidistant or fisheye",
                         model);
    camera->fisheye = strcmp(model, "equidistant") == 0 || strcmp(model, "fisheye") == 0 ||
                      strcmp(fisheye, "1") == 0 || strcmp(fisheye, "true") == 0;
    int result = read_size(document, root, "image_width width", &camera->width, fault);
    if (result == 0)
        result = read_size(document, root, "image_height height", &camera->height, fault);
    if (result == 0 && !camera->width != !camera->height)
        result = fault_set(fault, FAULT_CONFIG, "image_width and image_height go together");
    return result == 0 ? definitions_check_camera(camera, "camera_matrix", fault) : result;
}

int config_parse_camera(const void *data, size_t size, struct definition_camera *camera,
                        struct fault *fault)
{
    const char *text = data;
    yaml_parser_t parser;
    yaml_document_t document;
    if (size >= 6 && memcmp(text, "%YAML:", 6) == 0) { /* OpenCV's first line is none of YAML's */
        const char *end = memchr(text, '\n', size);
        size_t head = end ? (size_t)(end - text) : size;
        text += head;
        size -= head;
    }
    if (!yaml_parser_initialize(&parser))
        return fault_set(fault, FAULT_MEMORY, "no memory for a calibration");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    int result = 0;
    if (!yaml_parser_load(&parser, &document))
        result =
            fault_set(fault, FAULT_CONFIG, "no YAML or JSON of a calibration: %s in line %zu",
                      parser.problem ? parser.problem : "a mistake", parser.problem_mark.line + 1);
    else {
        result = read_calibration(&document, yaml_document_get_root_node(&document), camera, fault);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return result;
}

static int read_file(const char *path, struct definition_camera *camera, struct fault *fault)
{
    struct bytes bytes = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fault_set_errno(fault, FAULT_NO_INPUT, path);
    int result = file_read(fd, CAMERA_FILE_MAX, &bytes, fault);
    close(fd);
    if (result == 0)
        result = config_parse_camera(bytes.data, bytes.size, camera, fault);
    bytes_finish(&bytes);
    return result;
}

static void read_camera(struct reader *reader, const char *name, yaml_node_t *node, void *to)
{
    struct definition_camera camera = {0};
    struct fault fault = FAULT_INIT;
    int result;
    snprintf(camera.name, sizeof camera.name, "%s", name);
    bool is_file = node->type == YAML_SCALAR_NODE;
    if (definitions_camera(to, name) || (is_file && reader->without_files))
        return; /* a worker has it from the front, which has read the file */
    if (is_file) {
        struct text path = {0};
        const char *file = text_of(node), *slash = strrchr(reader->file, '/');
        if (file[0] != '/' && slash) /* from the configuration's folder */
            text_append_bytes(&path, reader->file, (size_t)(slash + 1 - reader->file));
        text_append(&path, file);
        result = path.failed ? fault_set(&fault, FAULT_MEMORY, "no memory for a path")
                             : read_file(text_string(&path), &camera, &fault);
        text_finish(&path);
    } else {
        result = read_calibration(&reader->document, node, &camera, &fault);
    }
    if (result != 0)
        reader_complain(reader, node, "camera '%s': %s", name, fault.text);
    else if (!definitions_add_camera(to, &camera))
        reader->errors->failed = true;
}

void config_read_cameras(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    reader_names(reader, node, key->name, read_camera, to);
}

/* ---- what a worker is given ---- */

void config_print_camera(const struct definition_camera *camera, struct text *text)
{
    text_printf(text, "cameras.%s=%u %u %d %u", camera->name, camera->width, camera->height,
                camera->fisheye, camera->n_distortion);
    for (int i = 0; i < 9 + CAMERA_DISTORTION_MAX; i++)
        text_printf(text, " %.17g", i < 9 ? camera->matrix[i] : camera->distortion[i - 9]);
}

bool config_scan_camera(const char *line, struct definition_camera *camera)
{
    double v[4 + 9 + CAMERA_DISTORTION_MAX];
    size_t name = strcspn(line, "=");
    const char *at = line + name + (line[name] == '=');
    if (name >= sizeof camera->name)
        return false;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        char *end;
        v[i] = strtod(at, &end);
        if (end == at)
            return false;
        at = end;
    }
    *camera = (struct definition_camera){.width = (uint32_t)v[0],
                                         .height = (uint32_t)v[1],
                                         .fisheye = v[2] != 0,
                                         .n_distortion = (unsigned)v[3]};
    memcpy(camera->name, line, name);
    memcpy(camera->matrix, v + 4, sizeof camera->matrix);
    memcpy(camera->distortion, v + 13, sizeof camera->distortion);
    return true;
}
