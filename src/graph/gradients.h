/* The gradient functions the tables name. */
#ifndef TN__GRADIENTS_H
#define TN__GRADIENTS_H

#include "core/derive.h"

/* One for each name in the tables; a name may stand there several times. */
#define EW(name, arity, inputs, result, f, i, b, gradient, ...) \
    void tn__grad_##gradient(const tn__backward *back);
#include "tables/elementwise.def"
#undef EW
#define RED(name, result, init_f, init_i, combine_f, combine_i, gradient, saves) void tn__grad_##gradient(const tn__backward *back);
#include "tables/reductions.def"
#undef RED
#define SCAN(name, result, init_f, init_i, combine_f, combine_i, gradient, saves) void tn__grad_##gradient(const tn__backward *back);
#include "tables/scans.def"
#undef SCAN
#define PHASES(name, list, gradient, saves) void tn__grad_##gradient(const tn__backward *back);
#include "tables/phases.def"
#undef PHASES
#define tn__grad_none NULL
void tn__grad_missing(const tn__backward *back);

#endif
