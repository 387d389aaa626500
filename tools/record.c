#include "record.h"

#include <string.h>

const field record_fields[RECORD_FIELDS] = {
    {"name", FIELD_TEXT},
    {"type", FIELD_TEXT},
    {"default", FIELD_SWITCH},
    {"usable", FIELD_SWITCH},
    {"software", FIELD_SWITCH},
    {"description", FIELD_TEXT},
    {"vendor", FIELD_TEXT},
    {"platform", FIELD_TEXT},
    {"driver", FIELD_TEXT},
    {"version", FIELD_TEXT},
    {"c_version", FIELD_TEXT},
    {"profile", FIELD_TEXT},
    {"compute_units", FIELD_NUMBER},
    {"vector_width", FIELD_NUMBER},
    {"max_work_group", FIELD_NUMBER},
    {"fp16", FIELD_SWITCH},
    {"fp64", FIELD_SWITCH},
    {"memory_total", FIELD_NUMBER},
    {"memory_allocation", FIELD_NUMBER},
    {"memory_in_use", FIELD_NUMBER},
    {"error", FIELD_TEXT},
};

static int index_of(const char *name)
{
    for (int i = 0; i < RECORD_FIELDS; i++)
        if (strcmp(record_fields[i].name, name) == 0) return i;
    return -1;
}

const char *record_get(const record *r, const char *name)
{
    const int i = index_of(name);
    return i < 0 ? "" : r->values[i];
}

/* One line: what would end it becomes a space. */
void record_set(record *r, const char *name, const char *value)
{
    const int i = index_of(name);
    if (i < 0 || !value) return;
    snprintf(r->values[i], RECORD_TEXT, "%s", value);
    for (char *p = r->values[i]; *p; p++)
        if (*p == '\n' || *p == '\r' || *p == '\t') *p = ' ';
}

bool record_is(const record *r, const char *name)
{
    return strcmp(record_get(r, name), "1") == 0;
}

static void set_number(record *r, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    record_set(r, name, text);
}

void record_fill(record *r, const tn_device_info *info)
{
    memset(r, 0, sizeof *r);
    record_set(r, "name", info->name);
    record_set(r, "type", info->type);
    record_set(r, "default", "0");
    record_set(r, "usable", info->usable ? "1" : "0");
    record_set(r, "software", info->software ? "1" : "0");
    record_set(r, "description", info->description);
    record_set(r, "vendor", info->vendor);
    record_set(r, "platform", info->platform);
    record_set(r, "driver", info->driver);
    record_set(r, "version", info->version);
    record_set(r, "c_version", info->c_version);
    record_set(r, "profile", info->profile);
    record_set(r, "fp16", info->fp16 ? "1" : "0");
    record_set(r, "fp64", info->fp64 ? "1" : "0");
    record_set(r, "error", info->error);
    set_number(r, "compute_units", (uint64_t)info->compute_units);
    set_number(r, "vector_width", (uint64_t)info->vector_width);
    set_number(r, "max_work_group", info->max_work_group);
    set_number(r, "memory_total", info->memory_total);
    set_number(r, "memory_allocation", info->memory_allocation);
    set_number(r, "memory_in_use", info->memory_in_use);
}

void record_send(const record *r, FILE *to)
{
    for (int i = 0; i < RECORD_FIELDS; i++) fprintf(to, "%s\t%s\n", record_fields[i].name, r->values[i]);
    fputc('\n', to);
}

bool record_receive(record *r, const char **at)
{
    const char *p = *at;
    memset(r, 0, sizeof *r);
    while (*p && *p != '\n') {
        char name[32], value[RECORD_TEXT];
        const size_t line = strcspn(p, "\n"), key = strcspn(p, "\t\n");
        if (key < line) {
            snprintf(name, sizeof name, "%.*s", (int)key, p);
            snprintf(value, sizeof value, "%.*s", (int)(line - key - 1), p + key + 1);
            record_set(r, name, value);
        }
        p += line;
        if (*p) p++;
    }
    *at = *p ? p + 1 : p;
    return r->values[0][0] != '\0';
}

void json_text(const char *text, FILE *to)
{
    fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (*p < 0x20 || *p > 0x7e)
            fprintf(to, "\\u%04x", *p);
        else
            fputc(*p, to);
    }
    fputc('"', to);
}

void record_json(const record *r, FILE *to)
{
    fprintf(to, "  {");
    for (int i = 0; i < RECORD_FIELDS; i++) {
        const char *value = r->values[i];
        fprintf(to, "%s\n    \"%s\": ", i ? "," : "", record_fields[i].name);
        switch (record_fields[i].kind) {
        case FIELD_TEXT:
            if (!*value && strcmp(record_fields[i].name, "error") == 0)
                fprintf(to, "null");
            else
                json_text(value, to);
            break;
        case FIELD_NUMBER: fprintf(to, "%s", *value ? value : "0"); break;
        case FIELD_SWITCH: fprintf(to, "%s", strcmp(value, "1") == 0 ? "true" : "false"); break;
        }
    }
    fprintf(to, "\n  }");
}
