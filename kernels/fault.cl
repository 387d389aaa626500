/* The device's error word (device/fault.c): a code, a pad, and two 64-bit numbers. The first report stays. */
static void report_fault(__global int *fault, int code, long value, long limit)
{
    if (atomic_cmpxchg(fault, 0, code) != 0) return;
    __global long *numbers = (__global long *)fault;
    numbers[1] = value;
    numbers[2] = limit;
}
