#include "core/scope.h"
#include "base/alloc.h"
#include "base/platform.h"
#include "core/derive.h"
#include <string.h>
#include <tenon/autograd.h>

typedef struct tn__frame tn__frame;
struct tn__frame {
    tn__frame *parent;
    int depth;
    tn_tensor *newest;
    bool switched, before; /* pop puts the switch of gradients back to what it was before */
    tn_status code;        /* of the first failure */
    char sentence[TN__SENTENCE_MAX];
};

enum { NOT_OPENED = -2 }; /* the mark of a scope for which there was no memory */

static _Thread_local tn__frame *top;
static _Thread_local int paused;
/* A handle may be released by another thread than the one whose scope it is in. */
static tn__mutex list_lock = TN__MUTEX_INIT;

/* The failure that is remembered, told again with words in front. */
static bool retold(const char *sentence)
{
    const size_t known = strlen(top->sentence), length = strlen(sentence);
    return length > known && strcmp(sentence + length - known, top->sentence) == 0;
}

static void remember_first(tn_status code, const char *sentence)
{
    if (!top || (top->code != TN_OK && !(top->code == code && retold(sentence)))) return;
    top->code = code;
    snprintf(top->sentence, sizeof top->sentence, "%s", sentence);
}

tn_scope tn_scope_push(void)
{
    tn__frame *f = tn__zalloc(sizeof *f);
    if (!f) return (tn_scope){NOT_OPENED};
    tn__set_error_hook(remember_first);
    f->parent = top;
    f->depth = top ? top->depth + 1 : 1;
    top = f;
    return (tn_scope){.depth = f->depth};
}

tn_scope tn__scope_push_grad(bool enabled)
{
    const tn_scope scope = tn_scope_push();
    if (scope.depth <= 0) return scope;
    top->switched = true;
    top->before = tn__derive_enable(enabled);
    return scope;
}

tn_scope tn_scope_push_no_grad(void)
{
    return tn__scope_push_grad(false);
}

static void link_to(tn__frame *f, tn_tensor *x)
{
    x->frame = f;
    x->newer = NULL;
    x->older = f->newest;
    if (f->newest) f->newest->newer = x;
    f->newest = x;
}

static void unlink_from(tn_tensor *x)
{
    if (x->older) x->older->newer = x->newer;
    if (x->newer)
        x->newer->older = x->older;
    else
        x->frame->newest = x->older;
    x->frame = NULL;
    x->older = x->newer = NULL;
}

void tn__scope_join(tn_tensor *x)
{
    if (!top || paused) return;
    tn__lock(&list_lock);
    link_to(top, x);
    tn__unlock(&list_lock);
}

void tn__scope_leave(tn_tensor *x)
{
    tn__lock(&list_lock);
    if (x->frame) unlink_from(x);
    tn__unlock(&list_lock);
}

bool tn__scope_has(const tn_tensor *x)
{
    return top && x->frame == top;
}

void tn__scope_pause(void)
{
    paused++;
}

void tn__scope_resume(void)
{
    paused--;
}

tn_tensor *tn_keep(tn_tensor *x)
{
    if (tn__tensor_check(x, "keep", "x") != TN_OK) return NULL;
    tn__lock(&list_lock);
    if (x->frame) {
        tn__frame *parent = x->frame->parent;
        unlink_from(x);
        if (parent) link_to(parent, x);
    }
    tn__unlock(&list_lock);
    return x;
}

static void release_handles(tn__frame *f)
{
    for (;;) {
        tn__lock(&list_lock);
        tn_tensor *x = f->newest;
        if (x) unlink_from(x);
        tn__unlock(&list_lock);
        if (!x) return;
        tn__tensor_unref(x);
    }
}

tn_status tn_scope_pop(tn_scope scope)
{
    if (scope.depth == NOT_OPENED) return tn__fail(TN_MEMORY, "scope_pop: there was no memory to open the scope");
    if (scope.depth <= 0 || !top || top->depth < scope.depth)
        return tn__fail(TN_ARGUMENT, "scope_pop: scope %d is not open in this thread", scope.depth);
    tn_status code = TN_OK;
    char sentence[TN__SENTENCE_MAX] = "";
    while (top && top->depth >= scope.depth) { /* the outermost one's first failure came first or is its own */
        tn__frame *f = top;
        release_handles(f);
        if (f->switched) (void)tn__derive_enable(f->before);
        if (f->code != TN_OK) {
            code = f->code;
            memcpy(sentence, f->sentence, sizeof sentence);
        }
        top = f->parent;
        tn__free(f);
    }
    if (code != TN_OK) {
        tn__restore_error(code, sentence);
        remember_first(code, sentence); /* a failure inside is one of the parent's too */
    }
    return code;
}

void tn__scope_over_fork(void)
{
    tn__lock_over_fork(&list_lock);
}
