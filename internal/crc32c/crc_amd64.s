// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// STREAM is the length of a quarter of the second half of a block, and of an eighth of the block.
#define STREAM 512

// FOLD moves the vector acc by 128 bytes and adds the 32 bytes at off.
#define FOLD(off, acc, tmp) \
	VPCLMULQDQ $0x00, Y15, acc, tmp \
	VPCLMULQDQ $0x11, Y15, acc, acc \
	VPXOR      off(SI), tmp, tmp    \
	VPXOR      tmp, acc, acc

// JOIN moves the vector acc by 32 bytes and adds it to the next one.
#define JOIN(acc, next) \
	VPCLMULQDQ $0x00, Y14, acc, Y8  \
	VPCLMULQDQ $0x11, Y14, acc, acc \
	VPXOR      Y8, next, next       \
	VPXOR      acc, next, next

// STREAMS adds 8 bytes to each of the four states of the second half.
#define STREAMS(off) \
	CRC32Q off(DI), R10          \
	CRC32Q off+STREAM(DI), R11   \
	CRC32Q off+2*STREAM(DI), R12 \
	CRC32Q off+3*STREAM(DI), R13

// func features7() uint32
TEXT ·features7(SB), NOSPLIT, $0-4
	XORL  AX, AX
	XORL  CX, CX
	CPUID
	XORL  DX, DX
	CMPL  AX, $7
	JLT   none
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	MOVL  CX, DX

none:
	MOVL DX, ret+0(FP)
	RET

// func foldBlocks(state uint32, b *byte, blocks int, f *factors) uint32
//
// AX is the state, SI points into the first half of a block and DI into the first
// quarter of its second half, Y0 to Y3 are the sum of the first half, and R10 to R13 the states of the
// second, each as if it began with 0.
TEXT ·foldBlocks(SB), NOSPLIT, $0-36
	MOVL state+0(FP), AX
	MOVQ b+8(FP), SI
	MOVQ blocks+16(FP), BX
	MOVQ f+24(FP), DX

	VBROADCASTI128 (DX), Y15
	VBROADCASTI128 16(DX), Y14

block:
	LEAQ    4*STREAM(SI), DI
	VMOVD   AX, X8
	VPXOR   (SI), Y8, Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	XORL    R10, R10
	XORL    R11, R11
	XORL    R12, R12
	XORL    R13, R13
	STREAMS(0)
	STREAMS(8)
	STREAMS(16)
	STREAMS(24)
	ADDQ    $128, SI
	ADDQ    $32, DI
	MOVL    $(STREAM/32-1), CX

loop:
	FOLD(0, Y0, Y8)
	STREAMS(0)
	FOLD(32, Y1, Y9)
	STREAMS(8)
	FOLD(64, Y2, Y10)
	STREAMS(16)
	FOLD(96, Y3, Y11)
	STREAMS(24)
	ADDQ $128, SI
	ADDQ $32, DI
	SUBL $1, CX
	JNZ  loop

	// The first half: four vectors to one, and its 32 bytes to a state.
	JOIN(Y0, Y1)
	JOIN(Y1, Y2)
	JOIN(Y2, Y3)
	XORL         AX, AX
	VMOVQ        X3, CX
	CRC32Q       CX, AX
	VPEXTRQ      $1, X3, CX
	CRC32Q       CX, AX
	VEXTRACTI128 $1, Y3, X3
	VMOVQ        X3, CX
	CRC32Q       CX, AX
	VPEXTRQ      $1, X3, CX
	CRC32Q       CX, AX

	// Each state is moved over the streams that follow it. CRC32 reduces the sum to 32 bits.
	VMOVQ      AX, X0
	VMOVQ      R10, X1
	VMOVQ      R11, X2
	VMOVQ      R12, X3
	VPCLMULQDQ $0x00, 32(DX), X0, X0
	VPCLMULQDQ $0x10, 32(DX), X1, X1
	VPCLMULQDQ $0x00, 48(DX), X2, X2
	VPCLMULQDQ $0x10, 48(DX), X3, X3
	VPXOR      X1, X0, X0
	VPXOR      X3, X2, X2
	VPXOR      X2, X0, X0
	VMOVQ      X0, CX
	XORL       AX, AX
	CRC32Q     CX, AX
	XORL       R13, AX

	LEAQ 3*STREAM(DI), SI
	SUBQ $1, BX
	JNZ  block

	VZEROUPPER
	MOVL AX, ret+32(FP)
	RET
