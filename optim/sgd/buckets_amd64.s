// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// HOME makes the index in r the offset of its home bucket. R8 has the factor of home, and R9 the number of buckets.
#define HOME(r) \
	IMULQ R8, r; \
	SHRQ $32, r; \
	IMULQ R9, r; \
	SHRQ $32, r; \
	SHLQ $6, r

// func translateBuckets(dst *feature.Feature, src []feature.Feature, slots *uint64, buckets, count, room int) (done, counted int)
//
// The eight slots of a bucket are compared at once. A vacant slot has index 0, too, but number 0. Of the slots with
// index 0 the first one counts, which is vacant only if none has a number.
TEXT ·translateBuckets(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), R10
	MOVQ src_base+8(FP), SI
	MOVQ src_len+16(FP), CX
	MOVQ slots+32(FP), DI
	MOVQ buckets+40(FP), R9
	MOVQ count+48(FP), R14
	MOVQ room+56(FP), R15
	MOVQ $0x9e3779b97f4a7c15, R8
	LEAQ -8(SI)(CX*8), R12 // the last feature
	VPXOR Y2, Y2, Y2
	XORQ AX, AX

loop:
	LEAQ (128*8)(SI)(AX*8), R11 // prefetched features ahead
	CMPQ R11, R12
	CMOVQGT R12, R11
	MOVL (R11), R13
	HOME(R13)
	PREFETCHT1 (DI)(R13*1)

	MOVL (SI)(AX*8), DX
	VPBROADCASTD (SI)(AX*8), Y0
	MOVQ DX, R13
	HOME(R13)
	ADDQ DI, R13
probe:
	VMOVDQU (R13), Y1
	VSHUFPS $0xdd, 32(R13), Y1, Y1 // the indices of slots 0, 1, 4, 5 and 2, 3, 6, 7
	VPERMQ $0xd8, Y1, Y1
	VPCMPEQD Y0, Y1, Y1
	VMOVMSKPS Y1, BX
	BSFL BX, BX
	JZ   absent
	MOVL (R13)(BX*8), R11
	TESTL R11, R11
	JZ   absent
found:
	MOVL 4(SI)(AX*8), DX
	MOVL R11, (R10)(AX*8)
	MOVL DX, 4(R10)(AX*8)
	INCQ AX
	CMPQ AX, CX
	JLT  loop
out:
	VZEROUPPER
	MOVQ AX, done+64(FP)
	MOVQ R14, counted+72(FP)
	RET

absent:
	VMOVDQU (R13), Y1
	VSHUFPS $0x88, 32(R13), Y1, Y1 // the numbers
	VPERMQ $0xd8, Y1, Y1
	VPCMPEQD Y2, Y1, Y1
	VMOVMSKPS Y1, BX
	XORL R11, R11
	BSFL BX, BX
	JZ   full
	TESTQ R15, R15
	JLT  found
	CMPQ R14, R15
	JGE  out
	INCQ R14
	SHLQ $32, DX
	ORQ  R14, DX
	MOVQ DX, (R13)(BX*8)
	MOVQ R14, R11
	JMP  found

full: // the weight may be in the next bucket
	MOVQ R9, R11
	SHLQ $6, R11
	ADDQ DI, R11
	ADDQ $64, R13
	CMPQ R13, R11
	JNE  probe
	MOVQ DI, R13
	JMP  probe
