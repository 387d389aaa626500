/* Builds a program from its text, and says what is wrong with it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "device/opencl/opencl.h"

enum { LOG_LINES = 6 };

/* Fresh text (tn__free), NULL when there is none. */
static char *build_log(const tn__cl_device *state, cl_program program)
{
    size_t size = 0;
    if (state->cl->GetProgramBuildInfo(program, state->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS || size < 2)
        return NULL;
    char *log = tn__alloc_quiet(size + 1);
    if (!log) return NULL;
    log[0] = '\0';
    state->cl->GetProgramBuildInfo(program, state->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    log[size] = '\0';
    return log;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The line number in "name:12:5: error: …", "error: name:12:5: …", "1:12:5: error: …" (the first number is a file's) or
 * "(12): error …"; 0 when there is none. */
static long line_number(const char *p, const char *end)
{
    for (const char *start = p; p < end; p++) {
        if (!is_digit(*p) || (p > start && !strchr(":( ", p[-1]))) continue;
        char *after;
        const long line = strtol(p, &after, 10);
        if (*after == ':' && is_digit(after[1])) {
            char *third;
            const long second = strtol(after + 1, &third, 10);
            if (second > 0 && *third == ':' && is_digit(third[1])) return second;
        }
        if (line > 0 && *after && strchr(":),", *after)) return line;
        p = after - 1;
    }
    return 0;
}

/* Where the first complaint that names a line stands. */
static long error_line(const char *log)
{
    long line = 0;
    for (const char *p = log; *p && line == 0;) {
        const char *end = p + strcspn(p, "\r\n"), *error = strstr(p, "error");
        if (error && error < end) line = line_number(p, end);
        p = end + strspn(end, "\r\n");
    }
    return line;
}

/* Adds the source's n-th line without its leading spaces. */
static void add_source_line(tn__text *t, const char *text, size_t length, long n)
{
    const char *p = text, *end = text + length;
    for (long i = 1; i < n; i++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) return;
        p = newline + 1;
    }
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const size_t size = (size_t)((newline ? newline : end) - p);
    tn__text_add(t, "; line %ld of the source: %.*s", n, (int)(size < 200 ? size : 200), p);
}

/* The log's first lines that say something, joined. */
static void add_log_head(tn__text *t, const char *log)
{
    int lines = 0;
    for (const char *p = log; *p && lines < LOG_LINES;) {
        const size_t size = strcspn(p, "\r\n");
        if (strspn(p, " \t") < size) {
            tn__text_add(t, "%s%.*s", lines ? " | " : "", (int)(size < 300 ? size : 300), p);
            lines++;
        }
        p += size;
        p += strspn(p, "\r\n");
    }
    if (lines == 0) tn__text_puts(t, "(empty)");
}

static void log_lines(const tn__device *device, const char *log)
{
    for (const char *p = log; *p;) {
        const size_t size = strcspn(p, "\r\n");
        if (size) tn__log(3, "%s: compiler: %.*s", device->name, (int)size, p);
        p += size;
        p += strspn(p, "\r\n");
    }
}

static void report(tn__device *device, cl_program program, const char *text, size_t length, const char *name, cl_int code)
{
    const tn__cl_device *state = device->state;
    tn__text t = {0};
    char *log = build_log(state, program);
    const long line = log ? error_line(log) : 0;
    tn__text_add(&t, "%s: kernel %s could not be built: clBuildProgram gives %d (%s); log: ", device->name, name, (int)code,
                 tn__cl_error_name(code));
    add_log_head(&t, log ? log : "");
    if (line > 0) add_source_line(&t, text, length, line);
    tn__text_add(&t, "; device %s, driver %s, options %s", device->info.description, device->info.driver, state->options);
    tn__fail(TN_COMPILE, "%s", t.failed ? "a kernel could not be built, and there is no memory for the reason" : t.data);
    if (log) log_lines(device, log);
    tn__text_free(&t);
    tn__free(log);
}

/* The program of these parts, built; NULL with an error, which shows the last part. */
static cl_program build_parts(tn__device *device, const char *const *parts, const size_t *lengths, int count, const char *options,
                              const char *name)
{
    const tn__cl_device *state = device->state;
    cl_int code = CL_SUCCESS;
    cl_program program = state->cl->CreateProgramWithSource(state->context, (cl_uint)count, (const char **)parts, lengths, &code);
    if (code != CL_SUCCESS || !program) {
        tn__fail(TN_COMPILE, "%s: clCreateProgramWithSource gives %d (%s) for kernel %s", device->name, (int)code,
                 tn__cl_error_name(code), name);
        return NULL;
    }
    code = state->cl->BuildProgram(program, 1, &state->id, options, NULL, NULL);
    if (code == CL_SUCCESS) return program;
    report(device, program, parts[count - 1], lengths[count - 1], name, code);
    state->cl->ReleaseProgram(program);
    return NULL;
}

/* With declarations of our own in place of the compiler's header; NULL with an error. */
static cl_program build_declared(tn__device *device, const char *text, size_t length, const char *name)
{
    static const char own_lines[] = "#line 1\n"; /* the text's */
    const tn__cl_device *state = device->state;
    size_t lengths[] = {0, sizeof own_lines - 1, length};
    const char *const parts[] = {tn__kernel_source("declarations.cl", &lengths[0]), own_lines, text};
    if (!parts[0]) return NULL;
    char options[256];
    snprintf(options, sizeof options, "%s -D%s", state->options, state->own_header);
    return build_parts(device, parts, lengths, 3, options, name);
}

cl_program tn__cl_build(tn__device *device, const char *text, size_t length, const char *name)
{
    tn__cl_device *state = device->state;
    cl_program program = NULL;
    if (state->own_header) {
        tn__error_attempt();
        program = build_declared(device, text, length, name);
        tn__error_attempt_end();
    }
    if (!program) {
        program = build_parts(device, &text, &length, 1, state->options, name);
        if (program && state->own_header) {
            atomic_fetch_add(&state->undeclared, 1);
            tn__log(2, "%s: %s needs more than kernels/declarations.cl, and was built with the compiler's header", device->name,
                    name);
        }
    }
    if (program && tn__log_wanted(3)) {
        char *log = build_log(state, program);
        if (log) log_lines(device, log);
        tn__free(log);
    }
    return program;
}
