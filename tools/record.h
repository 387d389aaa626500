/* What `tenon devices` knows about one device, and its way from a child process to the parent: lines "key<tab>value", an
 * empty line at the end. */
#ifndef TENON_RECORD_H
#define TENON_RECORD_H

#include <stdbool.h>
#include <stdio.h>
#include <tenon/device.h>

enum { RECORD_FIELDS = 21, RECORD_TEXT = 1024 };

typedef struct record {
    char values[RECORD_FIELDS][RECORD_TEXT];
} record;

typedef enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_SWITCH } field_kind;
typedef struct field {
    const char *name;
    field_kind kind;
} field;
extern const field record_fields[RECORD_FIELDS]; /* in the order of the JSON output */

void record_fill(record *r, const tn_device_info *info);
/* The field's value, never NULL. */
const char *record_get(const record *r, const char *name);
void record_set(record *r, const char *name, const char *value);
bool record_is(const record *r, const char *name); /* a switch that is on */

void record_send(const record *r, FILE *to);
/* False at the end of the text; *at moves behind the record. */
bool record_receive(record *r, const char **at);
void record_json(const record *r, FILE *to);
/* A text of JSON. Drivers may report anything: what is not printable ASCII is escaped byte by byte. */
void json_text(const char *text, FILE *to);

#endif
