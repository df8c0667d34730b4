/* cmocka and what it needs, in the order it needs it. */
#ifndef SLUICE_TESTS_UNIT_TEST_H
#define SLUICE_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
