#include "graph/node.h"
#include "support/derive.h"
#include <string.h>

derive_seen seen;

static tn_status see(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count, tn_tensor *const *out,
                     int results)
{
    (void)attributes, (void)results;
    seen = (derive_seen){.count = seen.count + 1, .operands = count, .derivative = d, .out = out[0]};
    for (int i = 0; i < 3 && i < count; i++) seen.operand[i] = operands[i];
    return TN_OK;
}

static tn_status any_assign(tn_tensor *x, tn_tensor *src)
{
    (void)x, (void)src;
    return TN_OK;
}

static tn_status assigned(tn_tensor *x, tn_tensor *src)
{
    (void)x, (void)src;
    return TN_OK;
}

static void no_slot(void *slot)
{
    (void)slot;
}

void derive_watch(void)
{
    static const tn__listener listener = {see, any_assign, assigned, no_slot};
    memset(&seen, 0, sizeof seen);
    tn__derive_listen(&listener);
}

void derive_watch_end(void)
{
    tn__derive_listen(NULL);
}

tn_status row_gradient(const tn__row *row, tn_tensor *const *operands, tn_tensor *out, tn_tensor *up, tn_tensor **g)
{
    tn__signature operand[3];
    for (int i = 0; i < row->arity; i++)
        operand[i] = (tn__signature){tn__tensor_shape(operands[i]), operands[i]->dtype, tn__tensor_device(operands[i]), true,
                                     false};
    const tn__backward back = {row->name, row->arity, 1, operand, operands, &out, &up, NULL, g, true};
    return tn__differentiate(&row->derivative, &back);
}
