// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// Four each of 1, minX, minX2, maxX2 and signless of table.go.
DATA four<>+0x00(SB)/8, $0x3f8000003f800000
DATA four<>+0x08(SB)/8, $0x3f8000003f800000
DATA four<>+0x10(SB)/8, $0x1ffffffd1ffffffd
DATA four<>+0x18(SB)/8, $0x1ffffffd1ffffffd
DATA four<>+0x20(SB)/8, $0x007ffffd007ffffd
DATA four<>+0x28(SB)/8, $0x007ffffd007ffffd
DATA four<>+0x30(SB)/8, $0x7f7fffff7f7fffff
DATA four<>+0x38(SB)/8, $0x7f7fffff7f7fffff
DATA four<>+0x40(SB)/8, $0x7fffffff7fffffff
DATA four<>+0x48(SB)/8, $0x7fffffff7fffffff
GLOBL four<>(SB), RODATA|NOPTR, $0x50

// func accumulateFours(cells [][4]float32, fs *feature.Feature, n int, g2 float32, sum *sums, next []feature.Feature) (done, fetched int)
//
// The lanes are features, so that each column of the four weights (w, G, N, rate) is
// a register. The sums are added up lane by lane: their order is that of the
// features.
TEXT ·accumulateFours(SB), NOSPLIT, $0-96
	MOVQ cells_base+0(FP), DI
	MOVQ cells_len+8(FP), R12
	MOVQ fs+24(FP), SI
	MOVQ n+32(FP), CX
	VBROADCASTSS g2+40(FP), X15
	MOVQ sum+48(FP), BX
	VMOVSS 0(BX), X13 // sum of rate·x²
	VMOVSS 4(BX), X14 // sum of (x/N)²
	VMOVUPS four<>+0x00(SB), X12
	VMOVUPS four<>+0x20(SB), X11
	MOVQ next_base+56(FP), R14
	MOVQ next_len+64(FP), R15
	LEAQ -8(R14)(R15*8), R15 // the last of next, in front of which there must be one
	XORQ AX, AX

loop:
	MOVL 0(SI), R8
	MOVL 8(SI), R9
	MOVL 16(SI), R10
	MOVL 24(SI), R11

	// Indices beyond the table, for Go to complain of; the table has 2^b weights.
	MOVQ R8, R13
	ORQ  R9, R13
	ORQ  R10, R13
	ORQ  R11, R13
	CMPQ R13, R12
	JAE  out

	// One weight twice: its second turn must see what the first has left.
	CMPL R8, R9
	JEQ  out
	CMPL R8, R10
	JEQ  out
	CMPL R8, R11
	JEQ  out
	CMPL R9, R10
	JEQ  out
	CMPL R9, R11
	JEQ  out
	CMPL R10, R11
	JEQ  out

	CMPQ R14, R15
	JGE  fetched
	MOVL 0(R14), R13
	MOVL 8(R14), DX
	SHLQ $4, R13
	SHLQ $4, DX
	PREFETCHT1 (DI)(R13*1)
	PREFETCHT1 (DI)(DX*1)
	ADDQ $16, R14
fetched:
	SHLQ $4, R8
	SHLQ $4, R9
	SHLQ $4, R10
	SHLQ $4, R11
	VMOVUPS (DI)(R8*1), X0
	VMOVUPS (DI)(R9*1), X1
	VMOVUPS (DI)(R10*1), X2
	VMOVUPS (DI)(R11*1), X3
	VMOVUPS 0(SI), X4
	VSHUFPS $0xdd, 16(SI), X4, X4 // x
	VUNPCKLPS X1, X0, X5
	VUNPCKLPS X3, X2, X6
	VUNPCKHPS X1, X0, X7
	VUNPCKHPS X3, X2, X8
	VMOVLHPS X6, X5, X0 // w
	VMOVHLPS X5, X6, X1 // G
	VMOVLHPS X8, X7, X2 // N
	VMOVMSKPS X2, R13
	TESTL R13, R13
	JNZ  out // no rule leaves an N below 0, and it does not compare as a number

	VMULPS X4, X4, X5 // x²
	VANDPS four<>+0x40(SB), X4, X4 // |x|
	VCMPPS $1, X11, X5, X6 // x² < minX2
	VBLENDVPS X6, X11, X5, X5
	VBLENDVPS X6, four<>+0x10(SB), X4, X4
	VMULPS X5, X15, X6
	VADDPS X6, X1, X1 // G += g2·x²

	VPCMPGTD X2, X4, X6 // |x| > N, as bits
	VMOVMSKPS X6, R13
	TESTL R13, R13
	JZ   scaled
	VDIVPS X4, X2, X7
	VMULPS X7, X0, X7 // w·N/|x|, where N > 0
	VXORPS X8, X8, X8
	VCMPPS $1, X2, X8, X8
	VANDPS X6, X8, X8
	VBLENDVPS X8, X7, X0, X0
	VBLENDVPS X6, X4, X2, X2
scaled:
	VSQRTPS X1, X6
	VDIVPS X6, X12, X6
	VDIVPS X2, X12, X7
	VMULPS X7, X6, X6 // rate = 1/sqrt(G)·(1/N)
	VMULPS X2, X2, X7
	VDIVPS X7, X5, X7 // x²/N²
	VCMPPS $2, four<>+0x30(SB), X5, X8 // x² ≤ maxX2
	VBLENDVPS X8, X7, X12, X7
	VMULPS X6, X5, X5 // rate·x²

	VADDSS X7, X14, X14
	VADDSS X5, X13, X13
	VMOVSHDUP X7, X8
	VMOVSHDUP X5, X9
	VADDSS X8, X14, X14
	VADDSS X9, X13, X13
	VMOVHLPS X7, X7, X8
	VMOVHLPS X5, X5, X9
	VADDSS X8, X14, X14
	VADDSS X9, X13, X13
	VSHUFPS $0xff, X7, X7, X8
	VSHUFPS $0xff, X5, X5, X9
	VADDSS X8, X14, X14
	VADDSS X9, X13, X13

	VUNPCKLPS X1, X0, X3
	VUNPCKHPS X1, X0, X4
	VUNPCKLPS X6, X2, X5
	VUNPCKHPS X6, X2, X7
	VMOVLHPS X5, X3, X8
	VMOVHLPS X3, X5, X9
	VMOVUPS X8, (DI)(R8*1)
	VMOVUPS X9, (DI)(R9*1)
	VMOVLHPS X7, X4, X8
	VMOVHLPS X4, X7, X9
	VMOVUPS X8, (DI)(R10*1)
	VMOVUPS X9, (DI)(R11*1)

	ADDQ $32, SI
	ADDQ $4, AX
	CMPQ AX, CX
	JLT  loop
out:
	VMOVSS X13, 0(BX)
	VMOVSS X14, 4(BX)
	MOVQ AX, done+80(FP)
	SUBQ next_base+56(FP), R14
	SHRQ $3, R14
	MOVQ R14, fetched+88(FP)
	RET
