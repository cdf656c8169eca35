// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// FOLD is the body of a kernel: per 128 bytes, the first operand, plus each of the
// others in turn, is stored in all places. BX is where it is, AX a pointer, DX counts.
#define FOLD(ADD) \
	MOVQ dsts+0(FP), DI  \
	MOVQ m+8(FP), R8     \
	MOVQ ops+16(FP), SI  \
	MOVQ k+24(FP), R9    \
	MOVQ n+32(FP), CX    \
	XORL BX, BX          \
	JMP  check           \
	                     \
next: \
	MOVQ    (SI), AX          \
	VMOVDQU (AX)(BX*1), Y0    \
	VMOVDQU 32(AX)(BX*1), Y1  \
	VMOVDQU 64(AX)(BX*1), Y2  \
	VMOVDQU 96(AX)(BX*1), Y3  \
	MOVL    $1, DX            \
	JMP     more              \
	                          \
add: \
	MOVQ (SI)(DX*8), AX          \
	ADD  (AX)(BX*1), Y0, Y0      \
	ADD  32(AX)(BX*1), Y1, Y1    \
	ADD  64(AX)(BX*1), Y2, Y2    \
	ADD  96(AX)(BX*1), Y3, Y3    \
	INCQ DX                      \
	                             \
more: \
	CMPQ DX, R9          \
	JLT  add             \
	XORL DX, DX          \
	                     \
store: \
	MOVQ    (DI)(DX*8), AX      \
	VMOVDQU Y0, (AX)(BX*1)      \
	VMOVDQU Y1, 32(AX)(BX*1)    \
	VMOVDQU Y2, 64(AX)(BX*1)    \
	VMOVDQU Y3, 96(AX)(BX*1)    \
	INCQ    DX                  \
	CMPQ    DX, R8              \
	JLT     store               \
	ADDQ    $128, BX            \
	                            \
check: \
	CMPQ BX, CX \
	JLT  next   \
	VZEROUPPER  \
	RET

// func foldFloat32(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)
TEXT ·foldFloat32(SB), NOSPLIT, $0-40
	FOLD(VADDPS)

// func foldFloat64(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)
TEXT ·foldFloat64(SB), NOSPLIT, $0-40
	FOLD(VADDPD)

// func foldInt32(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)
TEXT ·foldInt32(SB), NOSPLIT, $0-40
	FOLD(VPADDD)

// func foldInt64(dsts *unsafe.Pointer, m int, ops *unsafe.Pointer, k, n int)
TEXT ·foldInt64(SB), NOSPLIT, $0-40
	FOLD(VPADDQ)
