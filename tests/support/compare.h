/* Comparisons of values. On PoCL they wait until a test ends, so that the kernels of all are built as one program. */
#ifndef TEST_COMPARE_H
#define TEST_COMPARE_H

#include "support/test.h"

#define FAIL_AT(file, line, ...)                          \
    do {                                                  \
        char text_[1024];                                 \
        (void)snprintf(text_, sizeof text_, __VA_ARGS__); \
        _ck_assert_failed(file, line, text_, NULL);       \
    } while (0)

/* Makes the comparisons that wait; forgets them, and what the test wished. */
void test_look(void);
void test_look_away(void);

#endif
