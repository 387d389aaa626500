/* What PyTorch's pickles call and refer to. */
#include "io/torch.h"
#include <inttypes.h>
#include <string.h>

/* ---- what the pickle may call ---- */

/* OrderedDict(), or as Python 2 has it: OrderedDict([[key, value], …]). */
static tn_status make_dict(tn__pickle *p, const tn__pickle_value *arguments, tn__pickle_value **result)
{
    *result = tn__pickle_new(p, TN__PICKLE_DICT);
    if (!*result) return tn_last_status();
    const tn__pickle_value *list = tn__pickle_item_at(arguments, 0);
    if (list && list->kind != TN__PICKLE_LIST) return tn__pickle_fault(p, "makes an OrderedDict of something that is no list");
    for (const tn__pickle_item *i = list ? list->items.first : NULL; i; i = i->next) {
        const tn__pickle_kind kind = i->value->kind;
        if ((kind != TN__PICKLE_LIST && kind != TN__PICKLE_TUPLE) || i->value->items.count != 2)
            return tn__pickle_fault(p, "makes an OrderedDict of something that is no pair");
        TN__TRY(tn__pickle_append(p, *result, i->value->items.first->value));
        TN__TRY(tn__pickle_append(p, *result, i->value->items.last->value));
    }
    return TN_OK;
}

static tn_status read_numbers(tn__pickle *p, const tn__pickle_value *list, const char *what, tn_shape *out)
{
    if (!list || list->kind != TN__PICKLE_TUPLE) return tn__pickle_fault(p, "makes a tensor whose %s is no tuple", what);
    if (list->items.count > TN_MAX_AXES)
        return tn__pickle_fault(p, "makes a tensor of %" PRId64 " axes, more than %d", list->items.count, TN_MAX_AXES);
    for (const tn__pickle_item *i = list->items.first; i; i = i->next) {
        if (i->value->kind != TN__PICKLE_INT || i->value->number < 0)
            return tn__pickle_fault(p, "makes a tensor whose %s holds what is no whole number from 0", what);
        out->dim[out->ndim++] = i->value->number;
    }
    return TN_OK;
}

/* (storage, offset, size, stride, …); what follows is about gradients, and the dtype when the storage has none. */
static tn_status make_tensor(tn__pickle *p, const tn__pickle_value *arguments, tn__pickle_value **result)
{
    const tn__pickle_value *of = tn__pickle_item_at(arguments, 0), *offset = tn__pickle_item_at(arguments, 1);
    const tn__pickle_value *dtype = tn__pickle_item_at(arguments, 6);
    if (!of || of->kind != TN__PICKLE_STORAGE) return tn__pickle_fault(p, "makes a tensor of something that is no storage");
    if (!offset || offset->kind != TN__PICKLE_INT || offset->number < 0)
        return tn__pickle_fault(p, "makes a tensor whose offset is no whole number from 0");
    *result = tn__pickle_new(p, TN__PICKLE_TENSOR);
    tn__torch_tensor *t = *result ? tn__pickle_alloc(p, sizeof *t) : NULL;
    if (!t) return tn_last_status();
    (*result)->object = t;
    t->values = of->object;
    t->offset = offset->number;
    t->dtype = dtype && dtype->kind == TN__PICKLE_GLOBAL ? dtype->global->dtype : t->values->type->dtype;
    TN__TRY(read_numbers(p, tn__pickle_item_at(arguments, 2), "size", &t->shape));
    TN__TRY(read_numbers(p, tn__pickle_item_at(arguments, 3), "stride", &t->stride));
    return t->shape.ndim == t->stride.ndim
               ? TN_OK
               : tn__pickle_fault(p, "makes a tensor of %d axes with %d strides", t->shape.ndim, t->stride.ndim);
}

/* (tensor, whether it has a gradient, hooks) */
static tn_status make_parameter(tn__pickle *p, const tn__pickle_value *arguments, tn__pickle_value **result)
{
    if (!arguments->items.first || arguments->items.first->value->kind != TN__PICKLE_TENSOR)
        return tn__pickle_fault(p, "makes a parameter of something that is no tensor");
    *result = arguments->items.first->value;
    return TN_OK;
}

#define STORAGE(name, dtype)                 \
    {                                        \
        "torch", name "Storage", NULL, dtype \
    }
#define DTYPE(name, dtype)         \
    {                              \
        "torch", name, NULL, dtype \
    }
const tn__pickle_global tn__torch_globals[] = {
    {"collections", "OrderedDict", make_dict, TN_U8},
    {"torch._utils", "_rebuild_tensor", make_tensor, TN_U8},
    {"torch._utils", "_rebuild_tensor_v2", make_tensor, TN_U8},
    {"torch._utils", "_rebuild_tensor_v3", make_tensor, TN_U8},
    {"torch._utils", "_rebuild_parameter", make_parameter, TN_U8},
    STORAGE("Double", TN_F64),
    STORAGE("Float", TN_F32),
    STORAGE("Half", TN_F16),
    STORAGE("BFloat16", TN_BF16),
    STORAGE("Long", TN_I64),
    STORAGE("Int", TN_I32),
    STORAGE("Short", TN_I16),
    STORAGE("Char", TN_I8),
    STORAGE("Byte", TN_U8),
    STORAGE("Bool", TN_BOOL),
    STORAGE("Untyped", TN_U8), /* bytes */
    {"torch.storage", "UntypedStorage", NULL, TN_U8},
    DTYPE("float64", TN_F64),
    DTYPE("float32", TN_F32),
    DTYPE("float16", TN_F16),
    DTYPE("bfloat16", TN_BF16),
    DTYPE("int64", TN_I64),
    DTYPE("int32", TN_I32),
    DTYPE("int16", TN_I16),
    DTYPE("int8", TN_I8),
    DTYPE("uint64", TN_U64),
    DTYPE("uint32", TN_U32),
    DTYPE("uint16", TN_U16),
    DTYPE("uint8", TN_U8),
    DTYPE("bool", TN_BOOL),
};
const size_t tn__torch_global_count = sizeof tn__torch_globals / sizeof *tn__torch_globals;

/* ---- storages ---- */

/* The same for every window on it. */
static tn_status find_storage(tn__pickle *p, const char *key, uint64_t bytes, uint64_t size, tn__torch_storage **found)
{
    tn__map *storages = p->user;
    char shown[80];
    tn__torch_storage *s = *found = tn__map_get(storages, key, strlen(key));
    if (s)
        return s->bytes == bytes ? TN_OK
                                 : tn__pickle_fault(p, "has storage \"%s\" with %" PRIu64 " bytes and with %" PRIu64,
                                                    tn__shown(key, strlen(key), shown), s->bytes, bytes);
    s = *found = tn__pickle_alloc(p, sizeof *s);
    if (!s) return tn_last_status();
    *s = (tn__torch_storage){.key = key, .bytes = bytes, .size = size};
    return tn__map_put(storages, key, strlen(key), s) ? TN_OK : TN_MEMORY;
}

/* A part of a storage, as before 1.6: (its own key, offset, elements). */
static tn_status read_part(tn__pickle *p, const tn__pickle_value *part, tn__torch_window *w)
{
    const tn__pickle_value *offset = tn__pickle_item_at(part, 1), *count = tn__pickle_item_at(part, 2);
    if (!offset || offset->kind != TN__PICKLE_INT || !count || count->kind != TN__PICKLE_INT)
        return tn__pickle_fault(p, "has a part of a storage without offset and size");
    const uint64_t begin = (uint64_t)offset->number, elements = (uint64_t)count->number;
    if (begin > w->count || elements > w->count - begin)
        return tn__pickle_fault(p, "has a part of a storage of %" PRIu64 " elements: %" PRId64 " from %" PRId64, w->count,
                                count->number, offset->number);
    w->offset = begin;
    w->count = elements;
    return TN_OK;
}

/* ("storage", type, key, device, number of elements[, part]). Where it lay once is of no interest. */
tn_status tn__torch_find_window(tn__pickle *p, const tn__pickle_value *id, tn__pickle_value **result)
{
    const tn__pickle_value *field[6] = {NULL};
    for (int i = 0; i < 6 && id->kind == TN__PICKLE_TUPLE; i++) field[i] = tn__pickle_item_at(id, i);
    if (!field[4] || field[0]->kind != TN__PICKLE_TEXT || strcmp(field[0]->text.bytes, "storage") != 0)
        return tn__pickle_fault(p, "refers to something that is no storage");
    const tn__pickle_value *type = field[1], *key = field[2], *count = field[4];
    if (type->kind != TN__PICKLE_GLOBAL || !strstr(type->global->name, "Storage") || key->kind != TN__PICKLE_TEXT ||
        strlen(key->text.bytes) != key->text.length || count->kind != TN__PICKLE_INT)
        return tn__pickle_fault(p, "has a storage without type, key and size");
    const uint64_t size = tn_dtype_size(type->global->dtype);
    if (count->number < 0 || (uint64_t)count->number > INT64_MAX / size)
        return tn__pickle_fault(p, "has a storage of %" PRId64 " elements", count->number);
    *result = tn__pickle_new(p, TN__PICKLE_STORAGE);
    tn__torch_window *w = *result ? tn__pickle_alloc(p, sizeof *w) : NULL;
    if (!w) return tn_last_status();
    (*result)->object = w;
    *w = (tn__torch_window){.type = type->global, .count = (uint64_t)count->number};
    TN__TRY(find_storage(p, key->text.bytes, w->count * size, size, &w->of));
    return field[5] && field[5]->kind == TN__PICKLE_TUPLE ? read_part(p, field[5], w) : TN_OK;
}
