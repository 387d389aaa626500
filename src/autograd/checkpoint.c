/* Recomputation: a function of which nothing is saved but its inputs (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost). */
#include "autograd/variable.h"
#include "base/alloc.h"
#include "core/scope.h"
#include "ops/compose.h"

typedef struct recipe {
    tn_function *function;
    void *user;
    uint64_t seed, position; /* of the thread's generator, as it was */
} recipe;

/* Leaves with the inputs' values, for a graph of its own. */
static tn_status copy_inputs(const tn__backward *back, tn_tensor **leaves)
{
    for (int i = 0; i < back->count; i++) {
        leaves[i] = tn_detach(back->in[i]);
        if (!leaves[i]) return tn_last_status();
        if (back->operand[i].wanted) TN__TRY(tn_set_requires_grad(leaves[i], true));
    }
    return TN_OK;
}

static tn_tensor *compute_again(const tn__backward *back, tn_tensor *const *leaves)
{
    const recipe *r = back->attributes;
    uint64_t seed, position;
    tn_random_state(&seed, &position);
    tn_set_random_state(r->seed, r->position);
    tn_tensor *y = r->function(leaves, back->count, r->user);
    tn_set_random_state(seed, position);
    return y;
}

/* The gradients of the leaves; what else function took from outside gets its own. */
static tn_status add_up(const tn__backward *back, tn_tensor *y, tn_tensor **leaves)
{
    TN__TRY(tn_backward_all(&y, back->up, 1, NULL));
    for (int i = 0; i < back->count; i++) {
        if (!back->operand[i].wanted) continue;
        back->g[i] = tn_grad_of(leaves[i]);
        if (!back->g[i]) return tn_last_status();
    }
    return TN_OK;
}

/* Those of the leaves alone. */
static tn_status take(const tn__backward *back, tn_tensor *y, tn_tensor **leaves)
{
    tn_tensor **wanted = leaves + back->count, **found = wanted + back->count;
    int count = 0;
    for (int i = 0; i < back->count; i++)
        if (back->operand[i].wanted) wanted[count++] = leaves[i];
    TN__TRY(tn_grad(&y, back->up, 1, wanted, count, found, &(tn_backward_options){.unused = true}));
    for (int i = 0; i < back->count; i++)
        if (back->operand[i].wanted) back->g[i] = *found++;
    return TN_OK;
}

static tn_status recompute(const tn__backward *back, tn_tensor **leaves)
{
    TN__TRY(copy_inputs(back, leaves));
    tn_tensor *y = compute_again(back, leaves);
    if (!y) return tn__fail_null("checkpoint", "what function gave");
    if (!tn_requires_grad(y)) return TN_OK;
    TN__TRY((back->adds_up ? add_up : take)(back, y, leaves));
    for (int i = 0; i < back->count; i++) {
        if (back->g[i] == TN_NONE) back->g[i] = NULL;
        if (back->g[i]) tn_keep(back->g[i]);
    }
    return TN_OK;
}

static void checkpoint_back(const tn__backward *back)
{
    if (tn_grad_enabled()) {
        (void)tn__fail(TN_ARGUMENT, "backward: gradients of what tn_checkpoint computes cannot be differentiated again");
        return;
    }
    tn_tensor **leaves = tn__zalloc(3 * (size_t)back->count * sizeof *leaves);
    const tn_scope scope = tn__scope_push_grad(true);
    const bool opened = scope.depth > 0;
    tn_status status = leaves && opened ? recompute(back, leaves) : TN_MEMORY;
    if (opened && tn_scope_pop(scope) != TN_OK) status = tn_last_status();
    for (int i = 0; i < back->count && status != TN_OK; i++) back->g[i] = NULL; /* they went with the scope */
    tn__free(leaves);
}

static const tn__derivative derive_checkpoint = {"checkpoint", checkpoint_back, TN__SAVES_IN, sizeof(recipe)};

tn_tensor *tn_checkpoint(tn_function *function, tn_tensor *const *inputs, int count, void *user)
{
    if (!function) return (void)tn__fail_null("checkpoint", "function"), NULL;
    if (!inputs) return (void)tn__fail_null("checkpoint", "inputs"), NULL;
    for (int i = 0; i < count; i++)
        if (tn__tensor_check(inputs[i], "checkpoint", "an input") != TN_OK) return NULL;
    recipe r = {.function = function, .user = user};
    tn_random_state(&r.seed, &r.position);
    const tn_scope scope = tn_scope_push_no_grad();
    if (scope.depth < 0) return NULL;
    tn_tensor *y = function(inputs, count, user);
    if (!y) (void)tn__fail_null("checkpoint", "what function gave");
    if (y && y->gradient) y = tn__next(y, tn_detach(y)); /* it is a part of another graph */
    y = tn__leave(scope, y);
    return tn__recorded(&derive_checkpoint, &r, inputs, count, y);
}
