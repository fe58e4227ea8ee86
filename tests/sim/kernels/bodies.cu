/* SPDX-License-Identifier: MIT */
/* Forces between bodies in float, and a small linear system in double: each operation is rounded
 * by itself, in the order that is written. */

KERNEL(bodies)
{
    __shared__ float positions[3][64];
    ELEMENT
    const u32 t = threadIdx.x;
    double matrix[3][4], scale;
    float force[3] = {0.0f, 0.0f, 0.0f};

    for (u32 j = 0; j < 3; j++)
        positions[j][t] = (float)(s32)WORD(j) * 1e-7f;
    block_barrier();
    for (u32 other = 0; other < 64; other++) {
        float delta[3], square = 0.01f, inverse;

        for (u32 j = 0; j < 3; j++) {
            delta[j] = positions[j][other] - positions[j][t];
            square = bits_float(F3("fma.rn.f32", delta[j], delta[j], square));
        }
        inverse = bits_float(F1("rcp.rn.f32", bits_float(F1("sqrt.rn.f32", square))));
        inverse = inverse * inverse * inverse;
        for (u32 j = 0; j < 3; j++)
            force[j] += delta[j] * inverse;
    }
    for (u32 j = 0; j < 3; j++)
        PUT(float_bits(force[j]));
    for (u32 row = 0; row < 3; row++)
        for (u32 column = 0; column < 4; column++)
            matrix[row][column] = (double)(s32)(WORD(row) >> column * 3) + (row == column) * 1e9;
    for (u32 pivot = 0; pivot < 3; pivot++)
        for (u32 row = 0; row < 3; row++)
            if (row != pivot) {
                scale = matrix[row][pivot] / matrix[pivot][pivot];
                for (u32 column = pivot; column < 4; column++)
                    matrix[row][column] -= scale * matrix[pivot][column];
            }
    for (u32 row = 0; row < 3; row++)
        PUT64(double_bits(matrix[row][3] / matrix[row][row]));
}
