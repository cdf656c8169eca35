// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// INDICES reads the indices of four features to R8 to R11, and goes to out if one may be beyond the
// table, for Go to complain of. A table has 2^b weights, or that less the first ones.
#define INDICES \
	MOVL 0(SI), R8; \
	MOVL 8(SI), R9; \
	MOVL 16(SI), R10; \
	MOVL 24(SI), R11; \
	MOVQ R8, R13; \
	ORQ  R9, R13; \
	ORQ  R10, R13; \
	ORQ  R11, R13; \
	CMPQ R13, R12; \
	JAE  out

// OFFSETS makes the indices offsets of weights of four floats.
#define OFFSETS \
	SHLQ $4, R8; \
	SHLQ $4, R9; \
	SHLQ $4, R10; \
	SHLQ $4, R11

// DOT is the loop of dotFours and dotSingles, after their arguments are in registers. The weight of the feature in R8 is at
// DI + R8·scale; a weight has 2^shift bytes. The sum waits for one addition after the other, so the prefetches cost little.
#define DOT(offsets, scale, shift) \
loop: \
	INDICES; \
	offsets; \
	SUBQ R15, BX; \
	JLT  last; \
	MOVQ R15, R13; \
fetch: \
	DECQ R13; \
	JLT  sums; \
	MOVL (DX), R14; \
	SHLQ $shift, R14; \
	PREFETCHT1 (DI)(R14*1); \
	ADDQ $8, DX; \
	JMP  fetch; \
last: \
	ADDQ R15, BX; \
sums: \
	MOVSS (DI)(R8*scale), X1; \
	MOVSS (DI)(R9*scale), X2; \
	MOVSS (DI)(R10*scale), X3; \
	MOVSS (DI)(R11*scale), X4; \
	MULSS 4(SI), X1; \
	MULSS 12(SI), X2; \
	MULSS 20(SI), X3; \
	MULSS 28(SI), X4; \
	ADDSS X1, X0; \
	ADDSS X2, X0; \
	ADDSS X3, X0; \
	ADDSS X4, X0; \
	ADDQ $32, SI; \
	ADDQ $4, AX; \
	CMPQ AX, CX; \
	JLT  loop; \
out: \
	MOVQ AX, done+80(FP); \
	SUBQ next_base+40(FP), DX; \
	SHRQ $3, DX; \
	MOVQ DX, fetched+88(FP); \
	MOVSS X0, sum+96(FP); \
	RET

// func dotFours(cells [][4]float32, fs *feature.Feature, n int, next []feature.Feature, per int, p float32) (done, fetched int, sum float32)
TEXT ·dotFours(SB), NOSPLIT, $0-100
	MOVQ cells_base+0(FP), DI
	MOVQ cells_len+8(FP), R12
	MOVQ fs+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ next_base+40(FP), DX
	MOVQ next_len+48(FP), BX
	MOVQ per+64(FP), R15
	MOVSS p+72(FP), X0
	XORQ AX, AX
	DOT(OFFSETS, 1, 4)

// func dotSingles(w []float32, fs *feature.Feature, n int, next []feature.Feature, per int, p float32) (done, fetched int, sum float32)
TEXT ·dotSingles(SB), NOSPLIT, $0-100
	MOVQ w_base+0(FP), DI
	MOVQ w_len+8(FP), R12
	MOVQ fs+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ next_base+40(FP), DX
	MOVQ next_len+48(FP), BX
	MOVQ per+64(FP), R15
	MOVSS p+72(FP), X0
	XORQ AX, AX
	DOT(NOP, 4, 2)

// APPLY adds u·(x·rate) to the weight at offset at, unless x is infinite, not a number, or the greatest number.
#define APPLY(x, at, skip) \
	MOVL x(SI), R14; \
	ANDL $0x7fffffff, R14; \
	CMPL R14, $0x7f7fffff; \
	JAE  skip; \
	MOVSS x(SI), X1; \
	MULSS (BX)(at*1), X1; \
	MULSS X0, X1; \
	ADDSS (DI)(at*1), X1; \
	MOVSS X1, (DI)(at*1); \
skip:

// func applyFours(cells [][4]float32, fs *feature.Feature, n, rate int, next []feature.Feature, u float32) (done, fetched int)
//
// One feature after the other, so that a weight that occurs twice moves twice.
TEXT ·applyFours(SB), NOSPLIT, $0-96
	MOVQ cells_base+0(FP), DI
	MOVQ cells_len+8(FP), R12
	MOVQ fs+24(FP), SI
	MOVQ n+32(FP), CX
	MOVQ rate+40(FP), BX
	LEAQ (DI)(BX*4), BX
	MOVQ next_base+48(FP), DX
	MOVQ next_len+56(FP), R15
	LEAQ (DX)(R15*8), R15
	MOVSS u+72(FP), X0
	XORQ AX, AX

loop:
	INDICES
	OFFSETS
	CMPQ DX, R15
	JAE  last
	MOVL (DX), R14
	SHLQ $4, R14
	PREFETCHT1 (DI)(R14*1)
	ADDQ $8, DX
last:
	APPLY(4, R8, second)
	APPLY(12, R9, third)
	APPLY(20, R10, fourth)
	APPLY(28, R11, end)
	ADDQ $32, SI
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  loop
out:
	MOVQ AX, done+80(FP)
	SUBQ next_base+48(FP), DX
	SHRQ $3, DX
	MOVQ DX, fetched+88(FP)
	RET
