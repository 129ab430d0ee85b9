/* src/tiledmm/launch/hooks.h. What tests define otherwise, before a type is made: all of it is here.
   Uses: once/. Used by: plan.h, product.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* The predicted time of a plan, which has the number of its instance, how K is cut (TMM__PLAN_WHOLE
   and so on) and the slices of a tile. bench/shapes forces plans by it, one by one. */
#ifndef TMM__PLAN_GUESS
#define TMM__PLAN_GUESS(instance, cut, slices, time) (time)
#define TMM__REMEMBERS                               1
#else
#define TMM__REMEMBERS 0 /* the choice of TMM_AUTO, which such a guess may change */
#endif
#endif

#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST
/* How many blocks KERNEL SMALL and SKINNY should have at least, and KERNEL THIN FLOAT at most: a test acts
   a large device. */
#ifndef TMM__BUSY
#define TMM__BUSY(processors) (processors)
#endif
/* Nanoseconds without packed operands and with them. A test packs always. */
#ifndef TMM__WORTH_PACKING
#define TMM__WORTH_PACKING(without, with) ((with) < (without))
#endif
/* What an instance of KERNEL TENSOR should take, by its number: a test prefers one. */
#ifndef TMM__TENSOR_GUESS
#define TMM__TENSOR_GUESS(M, instance, time) (time)
#endif
/* 1: the flags of partial tiles are cleared before each launch. They need no such thing, but
   compute-sanitizer's initcheck cannot know that. */
#ifndef TMM__CLEAR_FLAGS
#define TMM__CLEAR_FLAGS 0
#endif
/* KERNEL TENSOR FLOAT: what an instance should take, of which a test prefers one. By which
   instruction (tmm__float_instruction). Bytes of A and B from which blocks keep together. Whether
   doubtful elements may go by BF16x6. */
#ifndef TMM__FLOAT_GUESS
#define TMM__FLOAT_GUESS(instance, time) (time)
#endif
#ifndef TMM__FLOAT_INSTRUCTION
#define TMM__FLOAT_INSTRUCTION(instruction) (instruction)
#endif
/* Whether KERNEL THIN FLOAT competes: a test on the CPU runner takes it there. */
#ifndef TMM__FLOAT_THIN
#define TMM__FLOAT_THIN(by_tensor_cores) (by_tensor_cores)
#endif
#ifndef TMM__FLOAT_L2_BYTES
#define TMM__FLOAT_L2_BYTES tmm__tuned()->fp16.l2_bytes
#endif
#ifndef TMM__FLOAT_BF16X6
#define TMM__FLOAT_BF16X6(allowed) (allowed)
#endif
/* KERNEL TENSOR INT8: bytes of its workspace; k of a launch; moduli (0: the device chooses); the
   number of its instance; whether KERNEL TENSOR computes products for which FP64 was chosen. */
#ifndef TMM__INT8_BUDGET
#define TMM__INT8_BUDGET(bytes) (bytes)
#endif
#ifndef TMM__INT8_DEPTH
#define TMM__INT8_DEPTH(most) (most)
#endif
#ifndef TMM__INT8_FIXED
#define TMM__INT8_FIXED(moduli) (moduli)
#endif
#ifndef TMM__INT8_INSTANCE
#define TMM__INT8_INSTANCE(instance) (instance)
#endif
#ifndef TMM__INT8_FP64
#define TMM__INT8_FP64(pays) (pays)
#endif
/* syrk by kernels without a schedule for triangles: rows of a strip, bytes of the squares on the
   diagonal that are kept at once. */
#ifndef TMM__SYRK_ROWS
#define TMM__SYRK_ROWS(rows) (rows)
#endif
#ifndef TMM__SYRK_BYTES
#define TMM__SYRK_BYTES(most) (most)
#endif
#endif
