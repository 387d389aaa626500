/* Moving and casting a module: everything is made anew first, and takes its place when all is there. */
#include "nn/module.h"
#include "autograd/variable.h"
#include "base/alloc.h"
#include "core/scope.h"
#include "device/device.h"
#include <tenon/autograd.h>

/* A tensor and its gradient as they will be; NULL where nothing changes. */
typedef struct renewed {
    tn_tensor *value, *gradient;
} renewed;

/* How: x as it will be, a new handle. NULL with an error. */
typedef tn_tensor *renew_tensor(tn_tensor *x, const void *how);

static tn_tensor *to_device(tn_tensor *x, const void *how)
{
    return tn_to(x, how);
}

static tn_tensor *to_dtype(tn_tensor *x, const void *how)
{
    return tn_dtype_is_float(x->dtype) ? tn_cast(x, *(const tn_dtype *)how) : tn_to(x, tn_device_of(x));
}

static tn_status renew(renewed *r, tn_tensor *x, renew_tensor *function, const void *how)
{
    if (!(r->value = function(x, how))) return tn_last_status();
    tn_tensor *gradient = tn_grad_of(x);
    if (gradient && gradient != TN_NONE && !(r->gradient = function(gradient, how))) return tn_last_status();
    return gradient ? TN_OK : tn_last_status();
}

static tn_status replace(tn_tensor *x, const renewed *r)
{
    if (r->gradient) TN__TRY(tn_set_grad(x, TN_NONE));
    tn__tensor_replace(x, r->value);
    return r->gradient ? tn_set_grad(x, r->gradient) : TN_OK;
}

/* All of them or none. */
static tn_status renew_all(const tn_tensor_list *list, renew_tensor *function, const void *how)
{
    tn_status status = TN_OK;
    renewed *fresh = tn__zalloc((size_t)list->count * sizeof *fresh);
    tn_tensor **values = tn__alloc((size_t)list->count * sizeof(tn_tensor *));
    if (!fresh || !values) status = TN_MEMORY;
    for (int i = 0; i < list->count && status == TN_OK; i++) {
        status = renew(&fresh[i], list->tensors[i], function, how);
        values[i] = fresh[i].value;
    }
    if (status == TN_OK) status = tn_realize(values, list->count);
    for (int i = 0; i < list->count && status == TN_OK; i++)
        if (values[i]->storage != list->tensors[i]->storage) status = tn__variable_renew(list->tensors[i]);
    for (int i = 0; i < list->count && status == TN_OK; i++) status = replace(list->tensors[i], &fresh[i]);
    tn__free(values);
    tn__free(fresh);
    return status;
}

static tn_status change(const tn_module *m, renew_tensor *function, const void *how)
{
    tn_tensor_list *list = tn__module_tensors(m);
    if (!list) return tn_last_status();
    const tn_scope scope = tn_scope_push_no_grad();
    const tn_status status = tn__scope_end(scope, renew_all(list, function, how));
    tn_tensor_list_free(list);
    return status;
}

tn_status tn_module_to(tn_module *m, const char *name)
{
    TN__TRY(tn__module_check(m, "module_to"));
    if (!name) return tn__fail_null("module_to", "device");
    const tn__device *device = tn__device_use(name);
    return device ? change(m, to_device, device->name) : tn_last_status();
}

tn_status tn_module_cast(tn_module *m, tn_dtype dtype)
{
    TN__TRY(tn__module_check(m, "module_cast"));
    if (!tn_dtype_is_float(dtype))
        return tn__fail(TN_DTYPE, "module_cast: not to %s; the parameters of a module are floats", tn_dtype_name(dtype));
    return change(m, to_dtype, &dtype);
}
