#include "config/reader.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bank/definitions.h"
#include "base/nearest.h"
#include "base/number.h"

#define ERRORS_MAX 50

bool reader_complain(struct reader *reader, const yaml_node_t *node, const char *format, ...)
{
    char message[400];
    va_list args;
    if (reader->n_errors++ >= ERRORS_MAX)
        return false;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_printf(reader->errors, "%s:%zu:%zu: %s\n", reader->file, node->start_mark.line + 1,
                node->start_mark.column + 1, message);
    return false;
}

static size_t count_nodes(const struct reader *reader)
{
    return (size_t)(reader->document.nodes.top - reader->document.nodes.start);
}

/* An alias appears as a node that occurs in several places. */
static void refuse_aliases(struct reader *reader)
{
    size_t n = count_nodes(reader);
    unsigned *uses = calloc(n + 1, sizeof *uses);
    if (!uses) {
        reader->errors->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const yaml_node_t *node = &reader->document.nodes.start[i];
        if (node->type == YAML_SEQUENCE_NODE)
            for (const yaml_node_item_t *item = node->data.sequence.items.start;
                 item < node->data.sequence.items.top; item++)
                uses[*item - 1]++;
        if (node->type == YAML_MAPPING_NODE)
            for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
                 pair < node->data.mapping.pairs.top; pair++) {
                uses[pair->key - 1]++;
                uses[pair->value - 1]++;
            }
    }
    for (size_t i = 0; i < n; i++)
        if (uses[i] > (i > 0))
            reader_complain(reader, &reader->document.nodes.start[i],
                            "anchors and aliases have no place in a configuration");
    free(uses);
}

static void refuse_tags(struct reader *reader)
{
    static const char *const plain[] = {[YAML_SCALAR_NODE] = YAML_STR_TAG,
                                        [YAML_SEQUENCE_NODE] = YAML_SEQ_TAG,
                                        [YAML_MAPPING_NODE] = YAML_MAP_TAG};
    for (size_t i = 0; i < count_nodes(reader); i++) {
        const yaml_node_t *node = &reader->document.nodes.start[i];
        if (node->tag && node->type != YAML_NO_NODE &&
            strcmp((const char *)node->tag, plain[node->type]) != 0)
            reader_complain(reader, node, "tags have no place in a configuration");
    }
}

static bool has_second_document(yaml_parser_t *parser, struct reader *reader)
{
    yaml_document_t second;
    if (!yaml_parser_load(parser, &second))
        return true;
    const yaml_node_t *root = yaml_document_get_root_node(&second);
    if (root)
        reader_complain(reader, root, "a second document; a configuration is one");
    yaml_document_delete(&second);
    return root != NULL;
}

/* libyaml's message, as something that a user can look for. */
static const char *in_plain_words(const char *problem)
{
    static const struct {
        const char *problem, *says;
    } known[] = {
        {"found character that cannot start", "a line is indented by blanks, not by tabs, and a "
                                              "value that begins with @, ` or % needs quotes"},
        {"found a tab", "a line is indented by blanks, not by tabs"},
        {"did not find expected key",
         "a key is expected here: keys that belong together stand in one column, and a value that "
         "begins with {, [ or a quote needs quotes around all of it"},
        {"did not find expected '-'",
         "a - is expected here: entries of a list stand in one column"},
        {"did not find expected ','", "a comma or a closing bracket is missing before this"},
        {"mapping values are not allowed",
         "a value with ': ' in it needs quotes, and keys that belong together stand in one column"},
        {"could not find expected ':'", "a key needs a colon and a blank behind it"},
        {"found unexpected end of stream", "a quote is not closed"},
        {"invalid ", "this is no text in UTF-8"},
        {"control characters", "this is no text in UTF-8"},
    };
    for (size_t i = 0; problem && i < sizeof known / sizeof *known; i++)
        if (strncmp(problem, known[i].problem, strlen(known[i].problem)) == 0)
            return known[i].says;
    return problem ? problem : "no memory";
}

bool reader_begin(struct reader *reader, const char *file, const void *data, size_t size,
                  struct settings *settings, struct text *errors)
{
    yaml_parser_t parser;
    *reader = (struct reader){.file = file, .settings = settings, .errors = errors};
    if (!yaml_parser_initialize(&parser)) {
        errors->failed = true;
        return false;
    }
    yaml_parser_set_input_string(&parser, data, size);
    bool good = yaml_parser_load(&parser, &reader->document);
    if (good && yaml_document_get_root_node(&reader->document))
        good = !has_second_document(&parser, reader);
    const yaml_node_t problem = {.start_mark = parser.problem_mark};
    if (!good && reader->n_errors == 0)
        reader_complain(reader, &problem, "%s", in_plain_words(parser.problem));
    yaml_parser_delete(&parser);
    if (good) {
        refuse_aliases(reader);
        refuse_tags(reader);
    }
    return reader->n_errors == 0;
}

void reader_finish(struct reader *reader)
{
    yaml_document_delete(&reader->document);
    *reader = (struct reader){0};
}

static void complain_kind(struct reader *reader, const yaml_node_t *node, const char *what,
                          const char *expected)
{
    bool is_scalar = node->type == YAML_SCALAR_NODE;
    const char *hint = "";
    if (!is_scalar && (strcmp(what, "chain") == 0 || strcmp(what, "chains") == 0))
        hint = "; a chain is one text, with commas between stages: \"luminance,sobel\"";
    reader_complain(reader, node, "%s: expected %s, not %s%.60s%s%s", what, expected,
                    is_scalar                         ? "'"
                    : node->type == YAML_MAPPING_NODE ? "a mapping"
                                                      : "a sequence",
                    is_scalar ? (const char *)node->data.scalar.value : "", is_scalar ? "'" : "",
                    hint);
}

const char *reader_scalar(struct reader *reader, yaml_node_t *node, const char *what)
{
    if (node->type != YAML_SCALAR_NODE) {
        complain_kind(reader, node, what, "a value");
        return NULL;
    }
    const char *text = (const char *)node->data.scalar.value;
    if (strlen(text) != node->data.scalar.length) {
        reader_complain(reader, node, "%s: a zero byte has no place in a value", what);
        return NULL;
    }
    return text;
}

const char *reader_keep(struct reader *reader, const char *text)
{
    const char *kept = text ? settings_keep(reader->settings, text) : NULL;
    reader->errors->failed |= text && !kept;
    return kept;
}

bool reader_real(struct reader *reader, yaml_node_t *node, const char *what, double *value)
{
    const char *text = reader_scalar(reader, node, what);
    if (!text)
        return false;
    if (number_parse_real(text, strlen(text), value))
        return true;
    return reader_complain(reader, node, "%s: '%.60s' is no number", what, text);
}

bool reader_integer(struct reader *reader, yaml_node_t *node, const char *what, int64_t min,
                    int64_t max, int64_t *value)
{
    const char *text = reader_scalar(reader, node, what);
    if (!text)
        return false;
    if (number_parse_integer(text, strlen(text), value) && *value >= min && *value <= max)
        return true;
    return reader_complain(reader, node, "%s: '%.60s': expected an integer %s", what, text,
                           number_range(NUMBER_PLAIN, (double)min, (double)max));
}

bool reader_flag(struct reader *reader, yaml_node_t *node, const char *what, bool *value)
{
    const char *text = reader_scalar(reader, node, what);
    if (!text)
        return false;
    *value = strcmp(text, "true") == 0;
    if (*value || strcmp(text, "false") == 0)
        return true;
    return reader_complain(reader, node, "%s: '%.60s': expected true or false", what, text);
}

static void complain_unknown(struct reader *reader, const yaml_node_t *node, const char *what,
                             const struct reader_key *keys, const char *name)
{
    struct nearest nearest = {0};
    struct text names = {0};
    for (const struct reader_key *k = keys; k->name; k++) {
        nearest_offer(&nearest, name, strlen(name), k->name);
        text_printf(&names, "%s%s", k == keys ? "" : ", ", k->name);
    }
    reader_complain(reader, node, "%s has no key '%.60s'%s (there are %s)", what, name,
                    nearest_ask(&nearest, ""), text_string(&names));
    text_finish(&names);
}

static void set_option(struct reader *reader, yaml_node_t *value, const char *what,
                       const struct param *option, void *to)
{
    struct fault fault = FAULT_INIT;
    if (option->type == PARAM_FLAG) {
        reader_flag(reader, value, option->name, (bool *)((char *)to + option->offset));
        return;
    }
    const char *text = reader_scalar(reader, value, option->name);
    if (option->type == PARAM_TEXT)
        text = reader_keep(reader, text);
    if (text && param_set(option, to, text, strlen(text), false, what, &fault) != 0)
        reader_complain(reader, value, "%s", fault.text);
}

/* `keys`: those that it may have; NULL: users choose them. */
static bool is_mapping(struct reader *reader, yaml_node_t *node, const char *what,
                       const struct reader_key *keys)
{
    if (node->type == YAML_MAPPING_NODE)
        return true;
    struct text expected = {0};
    text_append(&expected, "a mapping (");
    for (size_t i = 0; keys && keys[i].name && i < 4; i++)
        text_printf(&expected, "%s%s%s", i ? ", " : "", i < 3 ? keys[i].name : "",
                    i < 3 ? ": …" : "…");
    text_append(&expected, keys ? ")" : "key: value)");
    complain_kind(reader, node, what, text_string(&expected));
    text_finish(&expected);
    return false;
}

/* The key's text; NULL, with an error, when it is not a text or occurs twice. */
static const char *key_name(struct reader *reader, const yaml_node_t *mapping,
                            const yaml_node_pair_t *pair, const char *what)
{
    yaml_node_t *key = yaml_document_get_node(&reader->document, pair->key);
    const char *name = reader_scalar(reader, key, what);
    const yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
    if (name && mapping->data.mapping.style == YAML_FLOW_MAPPING_STYLE &&
        value->type == YAML_SCALAR_NODE && value->data.scalar.length == 0 &&
        value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        reader_complain(reader, key,
                        "%s: '%.60s' is a key without a value: within { } a comma ends a value, so "
                        "a chain of several stages needs quotes (\"luminance,sobel\")",
                        what, name);
        return NULL;
    }
    for (const yaml_node_pair_t *p = mapping->data.mapping.pairs.start; name && p < pair; p++) {
        const yaml_node_t *earlier = yaml_document_get_node(&reader->document, p->key);
        if (earlier->type == YAML_SCALAR_NODE &&
            strcmp((char *)earlier->data.scalar.value, name) == 0) {
            reader_complain(reader, key, "%s: '%.60s' is there twice", what, name);
            return NULL;
        }
    }
    return name;
}

uint64_t reader_mapping(struct reader *reader, yaml_node_t *node, const char *what,
                        const struct reader_key *keys, void *to)
{
    uint64_t given = 0;
    if (!is_mapping(reader, node, what, keys))
        return 0;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const char *name = key_name(reader, node, pair, what);
        yaml_node_t *value = yaml_document_get_node(&reader->document, pair->value);
        if (!name)
            continue;
        const struct reader_key *key = keys;
        while (key->name && strcmp(key->name, name) != 0)
            key++;
        if (!key->name) {
            complain_unknown(reader, yaml_document_get_node(&reader->document, pair->key), what,
                             keys, name);
            continue;
        }
        given |= UINT64_C(1) << (key - keys);
        if (key->read)
            key->read(reader, key, value, (char *)to + key->offset);
        else
            set_option(reader, value, what, key->option, to);
    }
    for (const struct reader_key *key = keys; key->name; key++)
        if (key->required && !(given & UINT64_C(1) << (key - keys)))
            reader_complain(reader, node, "%s: %s is missing", what, key->name);
    return given;
}

const yaml_node_t *reader_value(struct reader *reader, const yaml_node_t *mapping, const char *key)
{
    if (mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(&reader->document, pair->key);
        if (name->type == YAML_SCALAR_NODE && strcmp((char *)name->data.scalar.value, key) == 0)
            return yaml_document_get_node(&reader->document, pair->value);
    }
    return NULL;
}

void reader_names(struct reader *reader, yaml_node_t *node, const char *what,
                  void (*read)(struct reader *reader, const char *name, yaml_node_t *value,
                               void *to),
                  void *to)
{
    if (!is_mapping(reader, node, what, NULL))
        return;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const char *name = key_name(reader, node, pair, what);
        if (!name)
            continue;
        if (definitions_is_name(name, strlen(name)))
            read(reader, name, yaml_document_get_node(&reader->document, pair->value), to);
        else
            reader_complain(reader, yaml_document_get_node(&reader->document, pair->key),
                            "%s: '%.60s' is no name: A-Z a-z 0-9 . _ -, at most %d", what, name,
                            DEFINITION_NAME_MAX);
    }
}

size_t reader_count(struct reader *reader, yaml_node_t *node, const char *what, size_t min,
                    size_t max)
{
    if (node->type != YAML_SEQUENCE_NODE) {
        complain_kind(reader, node, what, "a sequence (- entry)");
        return 0;
    }
    size_t n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (n >= min && n <= max)
        return n;
    reader_complain(reader, node, "%s: %zu entries; there may be %zu to %zu", what, n, min, max);
    return 0;
}

yaml_node_t *reader_item(struct reader *reader, const yaml_node_t *sequence, size_t index)
{
    return yaml_document_get_node(&reader->document, sequence->data.sequence.items.start[index]);
}
