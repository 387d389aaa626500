/* Element types. */
#ifndef TENON_DTYPE_H
#define TENON_DTYPE_H

#include <tenon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tn_dtype {
    TN_F16,  /* IEEE binary16, stored; computed in f32 */
    TN_BF16, /* upper half of an f32, stored; computed in f32 */
    TN_F32,
    TN_F64,
    TN_I8,
    TN_I16,
    TN_I32,
    TN_I64,
    TN_U8,
    TN_U16,
    TN_U32,
    TN_U64,
    TN_BOOL, /* one byte, 0 or 1 */
    TN_DTYPE_COUNT
} tn_dtype;

/** Bytes of one element; 0 for a value that is no dtype. */
TN_API size_t tn_dtype_size(tn_dtype dtype);
/** "f32", "bool", …; "?" for a value that is no dtype. */
TN_API const char *tn_dtype_name(tn_dtype dtype);
/** The dtype of that name; TN_DTYPE_COUNT when there is none. Does not set an error. */
TN_API tn_dtype tn_dtype_from_name(const char *name);
TN_API bool tn_dtype_is_float(tn_dtype dtype);
TN_API bool tn_dtype_is_signed(tn_dtype dtype);
/** The dtype an operation on two tensors of one axis or more computes in.
 *  error  DTYPE (u64 with a signed integer): TN_DTYPE_COUNT */
TN_API tn_dtype tn_promote(tn_dtype a, tn_dtype b);

/** Conversions of single values, round to nearest even; f16 and bf16 as their bits. */
TN_API uint16_t tn_f16_from_f32(float value);
TN_API float tn_f16_to_f32(uint16_t bits);
TN_API uint16_t tn_bf16_from_f32(float value);
TN_API float tn_bf16_to_f32(uint16_t bits);

#ifdef __cplusplus
}
#endif
#endif
