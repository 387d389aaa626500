/* A strict, bounded JSON reader for file headers. */
#include "io/json.h"
#include <string.h>

static tn_status fault(const tn__json *j, const char *what)
{
    return tn__fail(TN_FORMAT, "%s: not valid JSON at byte %zu of %zu: %s", j->path, j->at, j->length, what);
}

void tn__json_start(tn__json *j, const char *path, char *text, size_t length)
{
    *j = (tn__json){.path = path, .text = text, .length = length};
}

/* The next character that counts; 0 at the end (a NUL in the text is no token either). */
static char peek(tn__json *j)
{
    while (j->at < j->length && strchr(" \t\n\r", j->text[j->at]) && j->text[j->at])
        j->at++;
    return j->at < j->length ? j->text[j->at] : '\0';
}

bool tn__json_accept(tn__json *j, char c)
{
    if (peek(j) != c)
        return false;
    j->at++;
    return true;
}

tn_status tn__json_expect(tn__json *j, char c)
{
    if (tn__json_accept(j, c))
        return TN_OK;
    char what[40] = "expected ' '";
    what[10] = c;
    return fault(j, j->at == j->length ? "it ends too early" : what);
}

tn_status tn__json_end(tn__json *j)
{
    (void)peek(j);
    return j->at == j->length ? TN_OK : fault(j, "more after the end");
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

tn_status tn__json_number(tn__json *j, uint64_t *value, bool *negative)
{
    *negative = tn__json_accept(j, '-');
    const size_t first = j->at;
    uint64_t sum = 0;
    for (; j->at < j->length && is_digit(j->text[j->at]); j->at++) {
        const uint64_t digit = (uint64_t)(j->text[j->at] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return fault(j, "a number above 64 bits");
        sum = sum * 10 + digit;
    }
    if (j->at == first)
        return fault(j, "expected a number");
    if (j->text[first] == '0' && j->at > first + 1)
        return fault(j, "a number with leading zeros");
    if (j->at < j->length && strchr(".eE", j->text[j->at]) && j->text[j->at])
        return fault(j, "expected a whole number");
    *value = sum;
    return TN_OK;
}

/* ---- strings ---- */

/* Length of the UTF-8 sequence at s, 0 when it is none: no overlong forms, no surrogates, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    const bool low = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    const bool high = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return low || high ? 0 : n;
}

static size_t utf8_put(char *out, uint32_t c)
{
    unsigned char *o = (unsigned char *)out;
    if (c < 0x80) {
        o[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        o[0] = (unsigned char)(0xC0 | c >> 6);
        o[1] = (unsigned char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        o[0] = (unsigned char)(0xE0 | c >> 12);
        o[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        o[2] = (unsigned char)(0x80 | (c & 0x3F));
        return 3;
    }
    o[0] = (unsigned char)(0xF0 | c >> 18);
    o[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
    o[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
    o[3] = (unsigned char)(0x80 | (c & 0x3F));
    return 4;
}

/* Four hexadecimal digits at j->at; UINT32_MAX when they are none. */
static uint32_t hex4(tn__json *j)
{
    uint32_t value = 0;
    if (j->length - j->at < 4)
        return UINT32_MAX;
    for (int i = 0; i < 4; i++) {
        const char c = j->text[j->at + (size_t)i];
        const int digit = is_digit(c)            ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return UINT32_MAX;
        value = value << 4 | (uint32_t)digit;
    }
    j->at += 4;
    return value;
}

/* After "\u": one character, or two halves of one. 0 when it is not right. */
static uint32_t unicode_escape(tn__json *j)
{
    const uint32_t high = hex4(j);
    if (high == UINT32_MAX || (high >= 0xDC00 && high <= 0xDFFF))
        return 0;
    if (high < 0xD800 || high > 0xDBFF)
        return high;
    if (j->length - j->at < 2 || j->text[j->at] != '\\' || j->text[j->at + 1] != 'u')
        return 0;
    j->at += 2;
    const uint32_t low = hex4(j);
    return low < 0xDC00 || low > 0xDFFF ? 0 : 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

/* After a backslash: writes what it means, at most as long as the escape. Gives the bytes written, 0 for a fault. */
static size_t escape(tn__json *j, char *out)
{
    static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
    if (j->at == j->length)
        return 0;
    const char c = j->text[j->at++];
    if (c == 'u') {
        const uint32_t value = unicode_escape(j);
        return value ? utf8_put(out, value) : 0;
    }
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter)
        return 0;
    *out = meaning[letter - letters];
    return 1;
}

tn_status tn__json_text(tn__json *j, const char **out)
{
    if (!tn__json_accept(j, '"'))
        return fault(j, j->at == j->length ? "it ends too early" : "expected a string");
    char *start = j->text + j->at, *end = start;
    while (j->at < j->length && j->text[j->at] != '"') {
        const unsigned char c = (unsigned char)j->text[j->at];
        if (c < 0x20)
            return fault(j, "a control character in a string");
        if (c == '\\') {
            j->at++;
            const size_t n = escape(j, end);
            if (n == 0)
                return fault(j, "a wrong escape in a string");
            end += n;
            continue;
        }
        const size_t n = utf8_length((const unsigned char *)j->text + j->at, j->length - j->at);
        if (n == 0)
            return fault(j, "a string that is not UTF-8");
        memmove(end, j->text + j->at, n);
        end += n;
        j->at += n;
    }
    if (j->at == j->length)
        return fault(j, "a string without an end");
    j->at++;
    *end = '\0'; /* at the latest where the closing quote was */
    *out = start;
    return TN_OK;
}

/* ---- values that are skipped ---- */

/* A number, true, false or null: loosely, since nobody uses it. */
static tn_status skip_word(tn__json *j)
{
    const size_t first = j->at;
    while (j->at < j->length && j->text[j->at] && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", j->text[j->at]))
        j->at++;
    return j->at > first ? TN_OK : fault(j, j->at == j->length ? "it ends too early" : "expected a value");
}

/* One value, or the beginning of an array or object, which goes onto the stack of what is open. */
static tn_status skip_one(tn__json *j, char open[64], int *depth)
{
    const char *text = NULL;
    const char c = peek(j);
    if (c == '"')
        return tn__json_text(j, &text);
    if (c != '{' && c != '[')
        return skip_word(j);
    if (*depth == 64)
        return fault(j, "values nested deeper than 64");
    j->at++;
    open[(*depth)++] = c == '{' ? '}' : ']';
    return TN_OK;
}

tn_status tn__json_skip(tn__json *j)
{
    char open[64];
    int depth = 0;
    bool first = true; /* in the innermost array or object */
    do {
        if (first && depth > 0 && tn__json_accept(j, open[depth - 1])) {
            depth--;
            first = false;
        } else {
            const char *key = NULL;
            if (depth > 0 && open[depth - 1] == '}') {
                TN__TRY(tn__json_text(j, &key));
                TN__TRY(tn__json_expect(j, ':'));
            }
            const int before = depth;
            TN__TRY(skip_one(j, open, &depth));
            first = depth > before;
        }
        while (!first && depth > 0 && !tn__json_accept(j, ',')) {
            TN__TRY(tn__json_expect(j, open[depth - 1]));
            depth--;
        }
    } while (depth > 0);
    return TN_OK;
}

/* ---- writing ---- */

bool tn__is_utf8(const char *s)
{
    size_t left = strlen(s), n = 1;
    for (; left > 0 && n > 0; s += n, left -= n)
        n = utf8_length((const unsigned char *)s, left);
    return n > 0;
}

bool tn__json_quote(tn__text *t, const char *s)
{
    size_t left = strlen(s);
    tn__text_puts(t, "\"");
    while (left > 0) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = utf8_length((const unsigned char *)s, left);
        if (n == 0)
            return false;
        if (c == '"' || c == '\\')
            tn__text_add(t, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            tn__text_add(t, "\\u%04x", c);
        else
            tn__text_put(t, s, n);
        s += n;
        left -= n;
    }
    tn__text_puts(t, "\"");
    return true;
}
