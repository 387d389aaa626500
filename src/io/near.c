/* Names close to one that was not found, by edit distance. */
#include "io/near.h"
#include <stdio.h>
#include <string.h>

#define MOST    3
#define LONGEST 96

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Levenshtein's, on lower case and the last LONGEST bytes: names of layers differ at their end. */
static int distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST) {
        a += na - LONGEST;
        na = LONGEST;
    }
    if (nb > LONGEST) {
        b += nb - LONGEST;
        nb = LONGEST;
    }
    int row[LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int change = corner + (lower(a[i - 1]) != lower(b[j - 1]));
            const int gap = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            corner = row[j];
            row[j] = change < gap ? change : gap;
        }
    }
    return row[nb];
}

/* Small is near. One name inside the other ("weight" in "fc1.weight") is near, too. */
static int score(const char *name, const char *asked)
{
    const int d = distance(name, asked);
    if (*asked && *name && (strstr(name, asked) || strstr(asked, name)))
        return d < 3 ? d : 3;
    return d;
}

void tn__near_names(const tn_archive *archive, const char *name, char *out, size_t size)
{
    int best[MOST], at[MOST], count = 0;
    const size_t length = strlen(name);
    const int bound = length < 6 ? 2 : length < 30 ? (int)length / 3 : 10;
    for (int i = 0; i < archive->count; i++) {
        const int s = score(archive->entry[i].name, name);
        if (s > (bound > 3 ? bound : 3) || (count == MOST && s >= best[MOST - 1]))
            continue;
        int place = count < MOST ? count++ : MOST - 1;
        for (; place > 0 && best[place - 1] > s; place--) {
            best[place] = best[place - 1];
            at[place] = at[place - 1];
        }
        best[place] = s;
        at[place] = i;
    }
    const bool near = count > 0;
    for (; !near && count < MOST && count < archive->count; count++)
        at[count] = count;
    (void)snprintf(out, size, "%s", near ? "nearest:" : count ? "there are:" : "there are none");
    for (int i = 0; i < count; i++) {
        char shown[80];
        const char *entry = archive->entry[at[i]].name;
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s \"%s\"", i ? "," : "", tn__shown(entry, strlen(entry), shown));
    }
    if (!near && archive->count > MOST) {
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, ", ...");
    }
}
