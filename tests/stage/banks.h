/* Banks for the tests of analysis and synthesis, as a configuration defines them: "dct3" is the
 * discrete cosine transform of three samples; "mixed" has it along rows and 5/3 along columns;
 * "und" keeps every sample; "lossy" does not reconstruct; "q" is made from Haar's low-pass;
 * "lifted" is made of lifting steps. */
#ifndef SLUICE_TESTS_STAGE_BANKS_H
#define SLUICE_TESTS_STAGE_BANKS_H

#include "config/config.h"
#include "harness.h"

static const char banks_text[] =
    "banks:\n"
    "  dct3:\n"
    "    sampling: [3, 3]\n"
    "    analysis: {horizontal: [{taps: [0.5773502691896257, 0.5773502691896257, "
    "0.5773502691896257], zero: 2, shift: 0}, {taps: [-0.7071067811865476, "
    "4.9995996217394874e-17, 0.7071067811865476], zero: 2, shift: 0}, "
    "{taps: [0.40824829046386313, -0.816496580927726, 0.40824829046386313], zero: 2, "
    "shift: 0}]}\n"
    "    synthesis: {horizontal: [{taps: [0.5773502691896257, 0.5773502691896257, "
    "0.5773502691896257], zero: 0, shift: 0}, {taps: [0.7071067811865476, "
    "4.9995996217394874e-17, -0.7071067811865476], zero: 0, shift: 0}, "
    "{taps: [0.40824829046386313, -0.816496580927726, 0.40824829046386313], zero: 0, "
    "shift: 0}]}\n"
    "  mixed:\n"
    "    sampling: [3, 2]\n"
    "    analysis: {horizontal: [{taps: [0.5773502691896257, 0.5773502691896257, "
    "0.5773502691896257], zero: 2, shift: 0}, {taps: [-0.7071067811865476, "
    "4.9995996217394874e-17, 0.7071067811865476], zero: 2, shift: 0}, "
    "{taps: [0.40824829046386313, -0.816496580927726, 0.40824829046386313], zero: 2, "
    "shift: 0}], vertical: [{taps: [-0.125, 0.25, 0.75, 0.25, -0.125], zero: 2, "
    "shift: 0}, {taps: [-0.5, 1.0, -0.5], zero: 1, shift: 1}]}\n"
    "    synthesis: {horizontal: [{taps: [0.5773502691896257, 0.5773502691896257, "
    "0.5773502691896257], zero: 0, shift: 0}, {taps: [0.7071067811865476, "
    "4.9995996217394874e-17, -0.7071067811865476], zero: 0, shift: 0}, "
    "{taps: [0.40824829046386313, -0.816496580927726, 0.40824829046386313], zero: 0, "
    "shift: 0}], vertical: [{taps: [0.5, 1.0, 0.5], zero: 1, shift: 0}, "
    "{taps: [-0.125, -0.25, 0.75, -0.25, -0.125], zero: 2, shift: 1}]}\n"
    "  und:\n"
    "    sampling: [1, 1]\n"
    "    analysis: {horizontal: [{taps: [0.25, 0.5, 0.25], zero: 1, shift: 0}, "
    "{taps: [-0.25, 0.5, -0.25], zero: 1, shift: 0}]}\n"
    "    synthesis: {horizontal: [{taps: [1.0], zero: 0, shift: 0}, {taps: [1.0], "
    "zero: 0, shift: 0}]}\n"
    "  lossy:\n"
    "    sampling: [3, 3]\n"
    "    analysis: {horizontal: [{taps: [1.0, 2.0, 1.0], zero: 1, shift: 0}, "
    "{taps: [1.0, 0.0, -1.0], zero: 1, shift: 1}]}\n"
    "    synthesis: {horizontal: [{taps: [0.5, 1.0], zero: 0, shift: 0}, "
    "{taps: [1.0, -1.0, 0.25], zero: 2, shift: 1}]}\n"
    "    lossy: true\n"
    "  q: {qmf: [0.7071067811865476, 0.7071067811865476]}\n"
    "  lifted: {lifting: [{predict: [0.0625, -0.5625, -0.5625, 0.0625]}, {update: [0.25, 0.25]}, "
    "{predict: [-0.125], at: 1}], gain: [1, 0.5]}\n";

static struct config banks;

static int banks_setup(void **state)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    if (config_read_text(&banks, "banks", banks_text, sizeof banks_text - 1, &errors, &fault) != 0)
        fail_msg("%s", text_string(&errors));
    text_finish(&errors);
    harness_define(&banks.definitions);
    return harness_setup(state);
}

static int banks_teardown(void **state)
{
    config_finish(&banks);
    return harness_teardown(state);
}

#endif
