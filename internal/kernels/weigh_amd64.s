// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// PAIR weighs the two weights at offset OFF, whose sums are at SUMS, into Y0. Y15 is 0,
// Y14 marks the slots that take the ratio, Y13 those that are no weight, Y12 those that
// stay.
#define PAIR(OFF, SUMS) \
	VMOVUPS      OFF(SI), Y0      \
	VBROADCASTSS SUMS(DX), X1     \
	VBROADCASTSS SUMS+4(DX), X2   \
	VINSERTF128  $1, X2, Y1, Y1   \
	VPERMILPS    $0x55, Y0, Y2    \
	VDIVPS       Y1, Y2, Y3       \
	VMULPS       Y3, Y0, Y5       \
	VCMPPS       $6, Y15, Y1, Y4  \
	VANDPS       Y14, Y4, Y6      \
	VBLENDVPS    Y6, Y5, Y0, Y0   \
	VORPS        Y13, Y4, Y4      \
	VANDPS       Y4, Y0, Y0       \
	VANDPS       Y12, Y0, Y0

// func weighFours(dst, src, sums *float32, n int, masks *[3][8]uint32, past bool)
TEXT ·weighFours(SB), NOSPLIT, $0-41
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    sums+16(FP), DX
	MOVQ    n+24(FP), CX
	MOVQ    masks+32(FP), AX
	VXORPS  Y15, Y15, Y15
	VMOVUPS (AX), Y14
	VMOVUPS 32(AX), Y13
	VMOVUPS 64(AX), Y12
	MOVBLZX past+40(FP), BX
	TESTB   BX, BX
	JEQ     check
	TESTQ   $31, DI
	JEQ     past
	JMP     check

next:
	PAIR(0, 0)
	VMOVUPS Y0, (DI)
	PAIR(32, 8)
	VMOVUPS Y0, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $16, DX
	SUBQ    $4, CX

check:
	CMPQ CX, $4
	JGE  next
	VZEROUPPER
	RET

past: // past the caches: all of dst is written, and read much later
	CMPQ     CX, $4
	JLT      fence
	PAIR(0, 0)
	VMOVNTPS Y0, (DI)
	PAIR(32, 8)
	VMOVNTPS Y0, 32(DI)
	ADDQ     $64, SI
	ADDQ     $64, DI
	ADDQ     $16, DX
	SUBQ     $4, CX
	JMP      past

fence:
	SFENCE
	VZEROUPPER
	RET
