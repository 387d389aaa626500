/* The gradient column of every row, against central differences. */
#include "support/test.h"

START_TEST(stub)
{
}
END_TEST

TN_SUITE(gradients, stub)
