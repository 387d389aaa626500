/* Status codes, errors, the log, settings and memory of the library itself. */
#ifndef TENON_BASE_H
#define TENON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TN_STATIC)
#define TN_API
#elif defined(_WIN32) && defined(TN_BUILDING)
#define TN_API __declspec(dllexport)
#elif defined(_WIN32)
#define TN_API __declspec(dllimport)
#else
#define TN_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TN_MUST_USE __attribute__((warn_unused_result))
#else
#define TN_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Every status: name, and what it says. TN_OK is zero. */
#define TN_STATUS_LIST(X)                                                        \
    X(OK, "no error")                                                            \
    X(ARGUMENT, "an argument is not valid: NULL, negative, out of its range")    \
    X(SHAPE, "shapes do not fit")                                                \
    X(DTYPE, "the dtype is not allowed here")                                    \
    X(AXIS, "an axis or index is out of range")                                  \
    X(DEVICE, "operands are on different devices, or the device does not exist") \
    X(CAPABILITY, "the device cannot do this")                                   \
    X(MEMORY, "out of memory, or above a limit")                                 \
    X(OVERFLOW, "a size or value does not fit its type")                         \
    X(LOST, "the device failed earlier")                                         \
    X(COMPILE, "a kernel could not be built")                                    \
    X(FILE, "a file could not be read or written")                               \
    X(FORMAT, "a file is damaged or of another kind")                            \
    X(INTERNAL, "a fault of the library")

typedef enum tn_status {
#define TN_STATUS_ENUM(name, text) TN_##name,
    TN_STATUS_LIST(TN_STATUS_ENUM)
#undef TN_STATUS_ENUM
        TN_STATUS_COUNT
} tn_status;

/** The code's name without prefix ("SHAPE"); "?" when it is none. */
TN_API const char *tn_status_name(tn_status code);

/** The calling thread's last error as one sentence; "" when there is none.
 *  Valid until the thread's next failure or tn_clear_error. */
TN_API const char *tn_last_error(void);
/** The calling thread's last error code; TN_OK when there is none. */
TN_API tn_status tn_last_status(void);
/** Forgets the calling thread's last error. */
TN_API void tn_clear_error(void);

/** Receives what the library has to say: one line without newline. Levels: 1 warning, 2 information, 3 detail.
 *  May be called from any thread. */
typedef void (*tn_log_fn)(int level, const char *line, void *user);
/** Sets the log callback; NULL makes the library silent (the default). */
TN_API void tn_set_log(tn_log_fn fn, void *user);

/** Sets one of the library's settings; NULL as value restores the environment's, else the default.
 *  Names (and the environment variable that presets each, prefix TENON_):
 *    "device" DEVICE       what "auto" means: a device name
 *    "opencl" OPENCL       path of the OpenCL loader, or "none"
 *    "zlib" ZLIB           path of zlib, which unpacks deflated members of .npz files, or "none"
 *    "devices" DEVICES     filter: only OpenCL devices whose platform or name contains this text
 *    "eager" EAGER         "1" runs and waits after every operation
 *    "profile" PROFILE     "deep" or "wide" for every OpenCL device
 *    "memory_limit" MEMORY_LIMIT   bytes a device may hold; suffix K, M or G
 *    "cache_dir" CACHE_DIR folder of the program cache; "" for none
 *    "tuning" TUNING       file of tuned parameters (tuning.h), instead of tuning.txt in that folder; "" for none
 *    "kernel_dir" KERNEL_DIR       folder to read kernel sources from instead of the embedded ones
 *    "log" LOG             file that receives the log at level 3
 *  error  ARGUMENT (unknown name, or a value it does not take). Settings of devices count from their next first use. */
TN_API tn_status tn_set(const char *name, const char *value);
/** The value in force; "" when unset, NULL for an unknown name. */
TN_API const char *tn_get(const char *name);
/** The folder that "cache_dir" and the environment amount to, "" for none; valid until the thread's next call. */
TN_API const char *tn_cache_folder(void);

/** Frees every device, cache and thread-independent object. Handles that still exist may only be released
 *  afterwards. Nothing is freed at exit by itself; using the library again starts it anew. */
TN_API tn_status tn_shutdown(void);

/** Library version, e.g. "0.1.0". */
TN_API const char *tn_version(void);

#ifdef __cplusplus
}
#endif
#endif
