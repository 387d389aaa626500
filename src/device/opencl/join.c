/* Several texts in one program: each with its macros taken back at its end, and its file-scope names followed by a suffix of its
 * own. Names are found as the kernel files write them; one that is overlooked makes the common build fail, and each text is built
 * by itself then. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "device/opencl/opencl.h"

typedef struct word {
    const char *text;
    size_t length;
} word;

enum { MOST_MACROS = 2048, MOST_NAMES = 256 };

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct scan {
    cursor c;
    word macros[MOST_MACROS];
    int macros_count;
    word names[MOST_NAMES], tails[MOST_NAMES]; /* a name is its word and what a macro puts behind it */
    int names_count;
    word tail_macro, tail; /* the latest "#define X_NAME tail": X(name) is name and tail */
    bool full;
} scan;

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool goes_on(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static word take_word(cursor *c)
{
    word w = {c->at, 0};
    while (c->at < c->end && goes_on(*c->at)) c->at++;
    w.length = (size_t)(c->at - w.text);
    return w;
}

static bool same(word a, word b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool is(word a, const char *text)
{
    return same(a, (word){text, strlen(text)});
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) c->at++;
}

/* Behind white space and comments; false when neither was there. */
static bool skip_space(cursor *c)
{
    const char *from = c->at;
    for (;;) {
        while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
        if (c->end - c->at < 2 || c->at[0] != '/' || (c->at[1] != '*' && c->at[1] != '/')) return c->at > from;
        const bool block = c->at[1] == '*';
        c->at += 2;
        while (c->at < c->end && !(block ? c->end - c->at > 1 && c->at[0] == '*' && c->at[1] == '/' : *c->at == '\n')) c->at++;
        if (block) c->at = c->end - c->at > 2 ? c->at + 2 : c->end;
    }
}

static void take_define(scan *s)
{
    static const char tail_end[] = "_NAME";
    enum { TAIL = sizeof tail_end - 1 };
    skip_blanks(&s->c);
    const word name = take_word(&s->c);
    s->full |= s->macros_count == MOST_MACROS;
    if (name.length == 0 || s->full) return;
    s->macros[s->macros_count++] = name;
    if (name.length <= TAIL || memcmp(name.text + name.length - TAIL, tail_end, TAIL) != 0) return;
    skip_blanks(&s->c);
    s->tail_macro = (word){name.text, name.length - TAIL};
    s->tail = take_word(&s->c);
}

/* A line that begins with '#', and those that continue it. */
static void take_directive(scan *s)
{
    s->c.at++;
    skip_blanks(&s->c);
    if (is(take_word(&s->c), "define")) take_define(s);
    while (s->c.at < s->c.end && *s->c.at != '\n') s->c.at += s->c.at[0] == '\\' && s->c.end - s->c.at > 1 ? 2 : 1;
}

static void add_name(scan *s, word name, word tail)
{
    s->full |= s->names_count == MOST_NAMES;
    if (s->full || name.length == 0 || name.text[0] == '_' || is(name, "void") || is(name, "struct")) return;
    s->names[s->names_count] = name;
    s->tails[s->names_count++] = tail;
}

/* Behind a word at file scope: what it says to be a name. That is itself, or x in X(x) and in a line's X(x, …), which defines x. */
static void take_name(scan *s, word w, bool line_begins)
{
    (void)skip_space(&s->c);
    if (s->c.at == s->c.end || !strchr("([=;", *s->c.at)) return;
    add_name(s, w, (word){0});
    if (*s->c.at != '(') return;
    cursor ahead = {s->c.at + 1, s->c.end};
    (void)skip_space(&ahead);
    const word argument = take_word(&ahead);
    (void)skip_space(&ahead);
    if (ahead.at < ahead.end && *ahead.at == ')' && same(w, s->tail_macro)) add_name(s, argument, s->tail);
    if (ahead.at < ahead.end && *ahead.at == ',' && line_begins) add_name(s, argument, (word){0});
}

static void find_names(scan *s)
{
    int depth = 0;
    bool line_begins = true;
    while (s->c.at < s->c.end && !s->full) {
        const char *from = s->c.at;
        if (skip_space(&s->c)) {
            line_begins = line_begins || memchr(from, '\n', (size_t)(s->c.at - from));
            continue;
        }
        if (*s->c.at == '#' && line_begins) {
            take_directive(s);
            continue;
        }
        if (starts_word(*s->c.at)) {
            const word w = take_word(&s->c);
            if (depth == 0) take_name(s, w, line_begins);
        } else if (goes_on(*s->c.at)) {
            (void)take_word(&s->c);
        } else {
            depth += strchr("({[", *s->c.at) ? 1 : strchr(")}]", *s->c.at) ? -1 : 0;
            s->c.at++;
        }
        line_begins = false;
    }
}

static bool is_macro(const scan *s, word name)
{
    for (int i = 0; i < s->macros_count; i++)
        if (same(name, s->macros[i])) return true;
    return false;
}

bool tn__cl_join(tn__text *program, const char *text, size_t length, const char *suffix)
{
    scan *s = tn__alloc_quiet(sizeof *s);
    if (!s) return false;
    *s = (scan){.c = {text, text + length}};
    find_names(s);
    for (int i = 0; i < s->names_count; i++) {
        const word name = s->names[i], tail = s->tails[i];
        if (tail.length == 0 && is_macro(s, name)) continue;
        tn__text_add(program, "#define %.*s%.*s %.*s%.*s%s\n", (int)name.length, name.text, (int)tail.length, tail.text,
                     (int)name.length, name.text, (int)tail.length, tail.text, suffix);
    }
    tn__text_put(program, text, length);
    tn__text_puts(program, "\n");
    for (int i = 0; i < s->macros_count; i++) tn__text_add(program, "#undef %.*s\n", (int)s->macros[i].length, s->macros[i].text);
    for (int i = 0; i < s->names_count; i++)
        tn__text_add(program, "#undef %.*s%.*s\n", (int)s->names[i].length, s->names[i].text, (int)s->tails[i].length,
                     s->tails[i].text);
    const bool joined = !s->full && !program->failed;
    tn__free(s);
    return joined;
}
