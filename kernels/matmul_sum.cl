/* The parts of a split matrix product, added in their order; an item has W neighbouring columns of a row of C.
 *
 * The generator defines T IDX W TW PARAMS BATCH STORE STOREW. work: parts * rows * N elements, rows those of all matrices. */

__kernel void matmul_sum(PARAMS const int M, const int N, const int rows, const int parts, __global const T *restrict work)
{
    const int vectors = (N + W - 1) / W, item = (int)get_global_id(0), row = item / vectors, n = (item - row * vectors) * W;
    if (row >= rows) return;
    const int z = row / M, m = row - z * M;
    const IDX place = (IDX)row * N + n, apart = (IDX)rows * N;
    BATCH(z)
    if (n + W <= N) {
        TW sum = VLOAD(work, place);
        for (int part = 1; part < parts; part++)
            sum += VLOAD(work, place + part * apart);
        STOREW(z, m, n, sum);
    } else {
        for (int c = 0; n + c < N; c++) {
            T sum = work[place + c];
            for (int part = 1; part < parts; part++)
                sum += work[place + c + part * apart];
            STORE(z, m, n + c, sum);
        }
    }
}
