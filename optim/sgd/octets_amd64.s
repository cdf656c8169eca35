// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// OCTET adds w·x of eight classes, whose weights begin at row, to sum: first those of the even classes, then those of
// the odd ones. Y3 is x.
#define OCTET(row, sum) \
	VMOVUPS 0(row), Y4; \
	VMOVUPS 32(row), Y5; \
	VMOVUPS 64(row), Y6; \
	VMOVUPS 96(row), Y7; \
	VUNPCKLPS Y5, Y4, Y4; \
	VUNPCKLPS Y7, Y6, Y6; \
	VUNPCKLPD Y6, Y4, Y4; \
	VMULPS Y3, Y4, Y4; \
	VADDPS Y4, sum, sum

// STORE writes a sum of OCTET to the scores at at, in the order of the classes.
#define STORE(sum, low, at) \
	VEXTRACTF128 $1, sum, X4; \
	VUNPCKLPS X4, low, X5; \
	VUNPCKHPS X4, low, X6; \
	VMOVUPS X5, 0(at); \
	VMOVUPS X6, 16(at)

// func dotOctets(scores *float32, second, third int, cells [][4]float32, k int, fs *feature.Feature, n int, initial float32) (done int)
TEXT ·dotOctets(SB), NOSPLIT, $0-88
	MOVQ second+8(FP), R8
	MOVQ third+16(FP), R9
	MOVQ cells_base+24(FP), DI
	MOVQ cells_len+32(FP), R12
	SUBQ k+48(FP), R12 // the last index of class 0 that is within the table for all classes
	MOVQ fs+56(FP), SI
	MOVQ n+64(FP), CX
	VBROADCASTSS initial+72(FP), Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	SHLQ $4, R8
	SHLQ $4, R9
	XORQ AX, AX

next:
	CMPQ AX, CX
	JGE  out
	MOVL (SI)(AX*8), R10
	CMPQ R10, R12
	JGT  out
	VBROADCASTSS 4(SI)(AX*8), Y3
	SHLQ $4, R10
	ADDQ DI, R10
	LEAQ (R10)(R8*1), R11
	LEAQ (R10)(R9*1), R13
	OCTET(R10, Y0)
	OCTET(R11, Y1)
	OCTET(R13, Y2)
	INCQ AX
	JMP  next

out:
	MOVQ scores+0(FP), BX
	SHRQ $2, R8
	SHRQ $2, R9
	LEAQ (BX)(R8*1), R10
	LEAQ (BX)(R9*1), R11
	STORE(Y0, X0, BX)
	STORE(Y1, X1, R10)
	STORE(Y2, X2, R11)
	VZEROUPPER
	MOVQ AX, done+80(FP)
	RET
