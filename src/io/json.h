/* Reads JSON token by token from a text in memory; the caller knows what must come next. Strict: RFC 8259, whole numbers
 * only. Errors name file and byte. */
#ifndef TN__JSON_H
#define TN__JSON_H

#include "base/error.h"
#include "base/text.h"

typedef struct tn__json {
    const char *path; /* for messages */
    char *text;       /* strings are decoded in place */
    size_t at, length;
} tn__json;

/* The text must be writable and stay. */
void tn__json_start(tn__json *j, const char *path, char *text, size_t length);
/* Takes c, after white space; false leaves everything. */
bool tn__json_accept(tn__json *j, char c);
/* The same, or a FORMAT error. */
tn_status tn__json_expect(tn__json *j, char c);
/* A string, terminated, as checked UTF-8 without NUL; valid as long as the text. */
tn_status tn__json_text(tn__json *j, const char **out);
/* A whole number of at most 64 bits: its size, and its sign apart. */
tn_status tn__json_number(tn__json *j, uint64_t *value, bool *negative);
/* Any value at all, which is of no interest. At most 64 deep. */
tn_status tn__json_skip(tn__json *j);
/* Nothing but white space to the end. */
tn_status tn__json_end(tn__json *j);

bool tn__is_utf8(const char *s);
/* Writing: adds a string with its quotes; false when it is not UTF-8. */
bool tn__json_quote(tn__text *t, const char *s);

#endif
