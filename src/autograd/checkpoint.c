/* Recomputation: a function of which nothing is saved but its inputs (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost). */
#include "autograd/variable.h"
#include "base/alloc.h"

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

static tn_status recompute(const tn__backward *back, tn_tensor **leaves)
{
    const recipe *r = back->attributes;
    uint64_t seed, position;
    TN__TRY(copy_inputs(back, leaves));
    tn_random_state(&seed, &position);
    tn_set_random_state(r->seed, r->position);
    tn_tensor *y = r->function(leaves, back->count, r->user);
    tn_set_random_state(seed, position);
    if (!y) return tn_last_status();
    TN__TRY(tn_backward_all(&y, &back->up[0], 1, NULL));
    for (int i = 0; i < back->count; i++) {
        tn_tensor *g = back->operand[i].wanted ? tn_grad_of(leaves[i]) : TN_NONE;
        if (!g) return tn_last_status();
        back->g[i] = g == TN_NONE ? NULL : g;
    }
    return TN_OK;
}

static void checkpoint_back(const tn__backward *back)
{
    if (tn_grad_enabled()) {
        (void)tn__fail(TN_ARGUMENT, "backward: gradients of what tn_checkpoint computes cannot be differentiated again");
        return;
    }
    tn_tensor **leaves = tn__zalloc((size_t)(back->count > 0 ? back->count : 1) * sizeof *leaves);
    if (!leaves) return;
    const bool before = tn_set_grad_enabled(true);
    (void)recompute(back, leaves);
    (void)tn_set_grad_enabled(before);
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
    const bool before = tn_set_grad_enabled(false);
    tn_tensor *y = function(inputs, count, user);
    (void)tn_set_grad_enabled(before);
    return tn__recorded(&derive_checkpoint, &r, inputs, count, y);
}
