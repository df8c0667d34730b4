#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/byte_order.h"
#include "codec/png.h"

void png_fail(struct png_errors *errors, enum fault_code code, const char *text)
{
    errors->code = fault_set(errors->fault, code, "%s", text);
    longjmp(errors->escape, 1);
}

static int store_damage(struct png_errors *errors, const char *text)
{
    return codec_library_fault(errors->fault, FAULT_DATA, "damaged png", text);
}

static bool takes_warnings(const struct png_errors *errors)
{
    return errors->decoder && !errors->decoder->options.strict;
}

/* The error "Invalid IHDR data" follows a warning that says more ("Image width is zero in IHDR"),
 * which is reported in its place. */
__attribute__((noreturn)) static void on_error(png_structp png, png_const_charp text)
{
    struct png_errors *errors = png_get_error_ptr(png);
    if (errors->no_memory)
        png_fail(errors, FAULT_MEMORY, "no memory for a png");
    bool explained = errors->warning[0] && strncmp(text, "Invalid IHDR", 12) == 0;
    errors->code = store_damage(errors, explained ? errors->warning : text);
    longjmp(errors->escape, 1);
}

/* Keeps the first warning for png_attempt: the step goes on. */
static void on_warning(png_structp png, png_const_charp text)
{
    struct png_errors *errors = png_get_error_ptr(png);
    if (!errors->warning[0])
        snprintf(errors->warning, sizeof errors->warning, "%s", text);
    if (takes_warnings(errors))
        decoder_warn(errors->decoder, NULL, "%s", text);
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    struct png_errors *errors = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory)
        errors->no_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

png_structp png_create(struct png_errors *errors, bool reading)
{
    return (reading ? png_create_read_struct_2 : png_create_write_struct_2)(
        PNG_LIBPNG_VER_STRING, errors, on_error, on_warning, errors, allocate, release);
}

int png_attempt(struct png_errors *errors, void (*step)(void *context), void *context,
                struct fault *fault)
{
    errors->fault = fault;
    errors->code = 0;
    errors->no_memory = false;
    errors->warning[0] = '\0';
    if (setjmp(errors->escape) == 0)
        step(context);
    if (errors->code == 0 && errors->warning[0] && errors->no_memory)
        errors->code = fault_set(fault, FAULT_MEMORY, "no memory for a png");
    else if (errors->code == 0 && errors->warning[0] && !takes_warnings(errors))
        errors->code = store_damage(errors, errors->warning);
    errors->fault = NULL;
    return errors->code;
}

void png_use_host_order(png_structp png, int depth)
{
    if (depth == 16 && !HOST_IS_BIG_ENDIAN)
        png_set_swap(png);
}
