/* The rows' text into OpenCL C: letters behind macros, typed literals, the scalar functions that are called. */
#include "graph/generate.h"
#include <ctype.h>
#include <string.h>

const char tn__letters[] = "fdiulm";
const char *const tn__scalar_names[] = {"float", "double", "int", "uint", "long", "ulong"};

typedef struct function_row {
    const char *name, *body;
    int arity;
} function_row;
static const function_row functions[] = {
#define FN(name, kind, arity, ...) {#name, #__VA_ARGS__, arity},
#include "tables/functions.def"
#undef FN
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
_Static_assert(FUNCTIONS <= TN__FUNCTIONS, "a byte for each function");

static int find_function(const char *word, size_t length)
{
    for (int f = 0; f < FUNCTIONS; f++) {
        size_t i = 0;
        while (i < length && functions[f].name[i] && toupper((unsigned char)functions[f].name[i]) == word[i]) i++;
        if (i == length && !functions[f].name[i]) return f;
    }
    return -1;
}

static void need_function(tn__generator *g, int f, tn__compute c)
{
    if (g->called[f] >> c & 1) return;
    g->called[f] |= (uint8_t)(1u << c);
    tn__text body = {0};
    tn__generate_text(g, &body, functions[f].body, c, NULL, NULL, 0);
    const char l = tn__letters[c];
    tn__text_add(&g->functions, "static T%c fn_%s_%c(", l, functions[f].name, l);
    for (int i = 0; i < functions[f].arity; i++) tn__text_add(&g->functions, "%sconst T%c %c", i ? ", " : "", l, 'A' + i);
    tn__text_add(&g->functions, ")\n{\n    %s\n}\n", body.data ? body.data : "");
    g->functions.failed |= body.failed;
    tn__text_free(&body);
}

/* K(0.5) becomes a literal of the type, cast to its vector. Returns the text behind it. */
static const char *put_constant(tn__text *out, const char *open, tn__compute c)
{
    const char *close = strchr(open, ')');
    const bool point = memchr(open, '.', (size_t)(close - open)) != NULL;
    tn__text_add(out, "((T%c)(%.*s%s))", tn__letters[c], (int)(close - open - 1), open + 1,
                 c == TN__CF   ? (point ? "f" : ".0f")
                 : c == TN__CD ? (point ? "" : ".0")
                               : "");
    return close + 1;
}

static bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

/* Words whose meaning is a function in scalar.cl, in f32 and in f64. */
static const struct {
    const char *word;
    unsigned uses[2];
} defined_there[] = {{"FMOD", {TN__USES_FMOD_F, TN__USES_FMOD_D}}, {"ERF", {TN__USES_ERF_F, 0}}, {"ERFC", {TN__USES_ERFC_F, 0}}};

static const char *put_word(tn__generator *g, tn__text *out, const char *word, size_t length, tn__compute c)
{
    static const char *const plain[] = {"MAND", "MOR", "MXOR", "MNOT", "ANY"};
    if (word_is(word, length, "T")) {
        tn__text_add(out, "T%c", tn__letters[c]);
        return word + length;
    }
    if (word_is(word, length, "K") && word[length] == '(') return put_constant(out, word + length, c);
    const int f = find_function(word, length);
    if (f >= 0) {
        need_function(g, f, c);
        tn__text_add(out, "fn_%s_%c", functions[f].name, tn__letters[c]);
        return word + length;
    }
    bool macro = length > 1;
    for (size_t i = 0; i < length; i++) macro = macro && (isupper((unsigned char)word[i]) || isdigit((unsigned char)word[i]));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (word_is(word, length, plain[i])) macro = false;
    for (size_t i = 0; i < sizeof defined_there / sizeof defined_there[0]; i++)
        if (word_is(word, length, defined_there[i].word)) g->uses |= defined_there[i].uses[c == TN__CD];
    tn__text_put(out, word, length);
    if (macro) tn__text_add(out, "_%c", tn__letters[c]);
    return word + length;
}

void tn__generate_text(tn__generator *g, tn__text *out, const char *text, tn__compute c, const char *const *words,
                       const char *const *names, int count)
{
    for (const char *p = text; *p;) {
        if (!isalpha((unsigned char)*p) && *p != '_') {
            tn__text_put(out, p++, 1);
            continue;
        }
        size_t length = 1;
        while (isalnum((unsigned char)p[length]) || p[length] == '_') length++;
        int found = -1;
        for (int i = 0; i < count && found < 0; i++)
            if (word_is(p, length, words[i])) found = i;
        if (found >= 0) {
            tn__text_puts(out, names[found]);
            p += length;
        } else
            p = put_word(g, out, p, length, c);
    }
}
