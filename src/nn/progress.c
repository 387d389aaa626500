/* Lines of progress. */
#include "nn/progress.h"

#include "base/alloc.h"
#include "base/platform.h"
#include "base/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double (*tn__progress_clock)(void) = tn__seconds;

enum { LABEL = 64, BAR_MOST = 30, BAR_LEAST = 8, LOSS_DIGITS = 4, RATE_DIGITS = 3 };
#define SILENCE 2.0       /* seconds before the first line, */
#define TERMINAL_STEP 0.1 /* and between two */
#define PLAIN_STEP 5.0

struct tn_progress {
    FILE *file;
    char label[LABEL], unit[LABEL];
    int64_t total, begun_at, done;
    double loss, begun, shown; /* when it began, and when a line was shown last, if any was */
    bool any, has_loss, always, terminal, color;
    int width; /* of the line a terminal shows */
};

tn_progress *tn_progress_begin(FILE *file, int64_t total, const tn_progress_options *options)
{
    const tn_progress_options o = options ? *options : (tn_progress_options){0};
    if (!file) return (void)tn__fail_null("progress", "file"), NULL;
    if (total < 0 || o.done < 0) return TN__NULL(TN_ARGUMENT, "progress: %" PRId64 " of %" PRId64 " are done", o.done, total);
    tn_progress *p = tn__zalloc(sizeof *p);
    if (!p) return NULL;
    const char *no_color = getenv("NO_COLOR");
    p->file = file;
    p->total = total;
    p->begun_at = p->done = o.done;
    p->always = o.always;
    p->terminal = tn__terminal_width(file) > 0;
    p->color = p->terminal && !(no_color && *no_color);
    p->begun = tn__progress_clock();
    snprintf(p->label, sizeof p->label, "%s%s", o.label ? o.label : "", o.label ? "  " : "");
    snprintf(p->unit, sizeof p->unit, "%s", o.unit ? o.unit : "samples");
    return p;
}

/* ---- the parts of a line ---- */

static void put_number(tn__text *t, double value, int digits)
{
    if (isfinite(value))
        tn__text_double(t, value, digits);
    else
        tn__text_puts(t, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_time(tn__text *t, double seconds)
{
    const int64_t s = (int64_t)(seconds < 1e15 ? seconds + 0.5 : 1e15);
    if (s >= 3600)
        tn__text_add(t, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    else
        tn__text_add(t, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

static void put_rate(tn__text *t, const tn_progress *p, double rate)
{
    tn__text_puts(t, "  ");
    if (rate >= 100 && rate < 1e15)
        tn__text_add(t, "%" PRId64, (int64_t)(rate + 0.5));
    else
        put_number(t, rate, RATE_DIGITS);
    tn__text_add(t, " %s/s", p->unit);
}

static double share_of(const tn_progress *p)
{
    return p->done < p->total ? (double)p->done / (double)p->total : 1;
}

/* All behind the bar. */
static void put_facts(tn__text *t, const tn_progress *p, double elapsed, bool last)
{
    if (p->total > 0)
        tn__text_add(t, "%3d%%  %" PRId64 "/%" PRId64, (int)(100 * share_of(p)), p->done, p->total);
    else
        tn__text_add(t, "%" PRId64 " %s", p->done, p->unit);
    if (p->has_loss) {
        tn__text_puts(t, "  loss ");
        put_number(t, p->loss, LOSS_DIGITS);
    }
    const double rate = elapsed > 0 ? (double)(p->done - p->begun_at) / elapsed : 0;
    if (rate > 0) put_rate(t, p, rate);
    if (last) {
        tn__text_puts(t, "  in ");
        put_time(t, elapsed);
    } else if (rate > 0 && p->total > p->done) {
        tn__text_puts(t, "  ETA ");
        put_time(t, (double)(p->total - p->done) / rate);
    }
}

static void put_bar(tn__text *t, const tn_progress *p, int width)
{
    const int full = (int)(share_of(p) * width);
    tn__text_add(t, "[%s", p->color ? "\033[32m" : "");
    for (int i = 0; i < width; i++) tn__text_puts(t, i < full ? "=" : i == full ? ">" : " ");
    tn__text_add(t, "%s] ", p->color ? "\033[0m" : "");
}

/* ---- lines ---- */

/* In the place of the line before: the bar takes what is left, and a narrow terminal cuts the end. */
static void draw(tn_progress *p, const char *facts)
{
    enum { AROUND = 4 }; /* brackets, a space, and the last column, where some terminals go on to the next line */
    const int room = tn__terminal_width(p->file), taken = (int)(strlen(p->label) + strlen(facts));
    int bar = room - taken - AROUND, width = taken;
    tn__text t = {0};
    tn__text_add(&t, "\r%s", p->label);
    if (bar > BAR_MOST) bar = BAR_MOST;
    if (p->total > 0 && bar >= BAR_LEAST) {
        put_bar(&t, p, bar);
        width += bar + AROUND - 1;
    }
    tn__text_puts(&t, facts);
    if (width >= room && t.data) {
        t.data[room] = '\0'; /* behind the carriage return, without the last column */
        width = room - 1;
    }
    fprintf(p->file, "%s%*s", t.data ? t.data : "", width < p->width ? p->width - width : 0, "");
    p->width = width;
    tn__text_free(&t);
}

static void show(tn_progress *p, double now, bool last)
{
    tn__text facts = {0};
    put_facts(&facts, p, now - p->begun, last);
    if (!facts.failed && p->terminal)
        draw(p, facts.data);
    else if (!facts.failed)
        fprintf(p->file, "%s%s\n", p->label, facts.data);
    if (p->terminal && last) fputc('\n', p->file);
    (void)fflush(p->file);
    tn__text_free(&facts);
    p->shown = now;
    p->any = true;
}

void tn_progress_update(tn_progress *p, int64_t done, const double *loss)
{
    if (!p) return;
    p->done = done;
    if (loss) p->loss = *loss;
    p->has_loss = p->has_loss || loss;
    const double now = tn__progress_clock(), since = p->any ? now - p->shown : now - p->begun;
    const double wait = p->any ? (p->terminal ? TERMINAL_STEP : PLAIN_STEP) : p->always ? 0 : SILENCE;
    if (since >= wait) show(p, now, false);
}

void tn_progress_end(tn_progress *p)
{
    if (!p) return;
    const double now = tn__progress_clock();
    if (p->any || p->always || now - p->begun >= SILENCE) show(p, now, true);
    tn__free(p);
}
