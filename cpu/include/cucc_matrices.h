/* Matrices in the registers of a warp, as PTX has them: ldmatrix and mma (compile/ptx.h). A register holds two
 * numbers of 16 bits, of neighbours in a row of A or in a column of B. Included by cuda_runtime.h. */
#ifndef CUCC_MATRICES_H
#define CUCC_MATRICES_H

namespace cucc
{
template <int fraction_bits> float widen(unsigned short bits); /* cucc_rounding.h, by cuda_fp16.h */

/* Lane l has the address of row l % 8 of matrix l / 8, and gets of each two elements of row l / 4. */
template <bool transposed, class... V> void special_ldmatrix(const char *row, V &...to)
{
    whole_warp("ldmatrix");
    __syncwarp();
    const uint64_t *rows = warp_gather(0xffffffffu, (uint64_t)(uintptr_t)row);
    int lane = lane_number(), matrix = 0;
    auto one = [&] {
        unsigned int word = 0;
        for (int i = 0; i < 2; i++) {
            int at = transposed ? lane % 4 * 2 + i : lane / 4,
                column = transposed ? lane / 4 : lane % 4 * 2 + i;
            word |= (unsigned int)((const unsigned short *)rows[matrix * 8 + at])[column] << 16 * i;
        }
        matrix++;
        return word;
    };
    (special_set<unsigned int>(to, one()), ...);
}

/* D = A B + C, 16 x 8 x k. Lane l has of row l / 4 of A, or column of B, the elements 2 (l % 4) and the next,
 * then those 8 further; A and C have rows 8 below, too. The products of all k are summed up in double. */
template <int fraction_bits, int k>
void special_mma(float &d0, float &d1, float &d2, float &d3, const unsigned int (&a)[k / 4],
                 const unsigned int (&b)[k / 8], const float (&c)[4])
{
    whole_warp("mma.sync");
    struct numbers {
        float up[k / 4], down[k / 4],
            column[k / 4]; /* of the lane's two rows of A, its column of B */
    } mine;
    for (int i = 0; i < k / 4; i++) {
        mine.up[i] = widen<fraction_bits>((unsigned short)(a[i / 2 * 2] >> 16 * (i % 2)));
        mine.down[i] = widen<fraction_bits>((unsigned short)(a[i / 2 * 2 + 1] >> 16 * (i % 2)));
        mine.column[i] = widen<fraction_bits>((unsigned short)(b[i / 2] >> 16 * (i % 2)));
    }
    const uint64_t *lanes = warp_gather(0xffffffffu, (uint64_t)(uintptr_t)&mine);
    int lane = lane_number();
    double sum[4] = {c[0], c[1], c[2], c[3]};
    for (int t = 0; t < 4; t++) {
        const numbers *rows = (const numbers *)(uintptr_t)lanes[lane / 4 * 4 + t];
        const numbers *left = (const numbers *)(uintptr_t)lanes[lane % 4 * 8 + t];
        const numbers *right = (const numbers *)(uintptr_t)lanes[lane % 4 * 8 + 4 + t];
        for (int i = 0; i < k / 4; i++) {
            sum[0] += (double)rows->up[i] * left->column[i];
            sum[1] += (double)rows->up[i] * right->column[i];
            sum[2] += (double)rows->down[i] * left->column[i];
            sum[3] += (double)rows->down[i] * right->column[i];
        }
    }
    __syncwarp(); /* nobody reads mine any more */
    d0 = (float)sum[0], d1 = (float)sum[1], d2 = (float)sum[2], d3 = (float)sum[3];
}
} // namespace cucc

#endif
