/* A growing text. After a failed allocation it stays valid, ignores more text, and failed is set. Locale-free. */
#ifndef TN__TEXT_H
#define TN__TEXT_H

#include "base/error.h"

typedef struct tn__text {
    char *data; /* always terminated once anything was added; NULL before */
    size_t length, capacity;
    bool failed;
} tn__text;

void tn__text_add(tn__text *t, const char *format, ...) TN__PRINTF(2, 3);
void tn__text_puts(tn__text *t, const char *s);
void tn__text_put(tn__text *t, const char *s, size_t length);
void tn__text_free(tn__text *t);
/* Moves a text to where it lasts; "" when it failed. Returns to. */
const char *tn__text_move(tn__text *t, char *to, size_t size);
/* A float literal that reads back exactly, with '.' in every locale: "0.5", "1e-07", "inf" excluded by the caller. */
void tn__text_double(tn__text *t, double value, int digits);

#endif
