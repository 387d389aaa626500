/* How many multiplications and additions a second a device can do: in registers alone, by the driver, or by the compiler on the host. */
#ifndef TENON_BENCH_PEAK_H
#define TENON_BENCH_PEAK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct peak peak;
/* NULL where that cannot be done, and why. */
peak *peak_open(const char *device, bool quick, const char **why);
bool peak_once(void *what, double *ms, uint64_t *launches);
double peak_flops(const peak *p); /* of once */
void peak_close(peak *p);

#endif
