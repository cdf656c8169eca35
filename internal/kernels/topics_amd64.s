// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// The constants of fmath.ExpDigamma32.
DATA ed<>+0(SB)/4, $3.0
DATA ed<>+4(SB)/4, $2.0
DATA ed<>+8(SB)/4, $87.0
DATA ed<>+12(SB)/4, $3.5
DATA ed<>+16(SB)/4, $0.041666668
DATA ed<>+20(SB)/4, $0.006423611
DATA ed<>+24(SB)/4, $0.003552483
DATA ed<>+28(SB)/4, $1.442695
DATA ed<>+32(SB)/4, $12582912.0
DATA ed<>+36(SB)/4, $0.693359375
DATA ed<>+40(SB)/4, $-0.000212194440
DATA ed<>+44(SB)/4, $0.001388889
DATA ed<>+48(SB)/4, $0.008333334
DATA ed<>+52(SB)/4, $0.041666668
DATA ed<>+56(SB)/4, $0.16666667
DATA ed<>+60(SB)/4, $0.5
DATA ed<>+64(SB)/4, $1.0
DATA ed<>+68(SB)/4, $0x3f800000
GLOBL ed<>(SB), RODATA|NOPTR, $72

// func expDigammas(dst, x *float32, n int)
TEXT ·expDigammas(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS ed<>+0(SB), Y15  // 3
	VBROADCASTSS ed<>+4(SB), Y14  // 2
	VBROADCASTSS ed<>+8(SB), Y13  // 87
	VBROADCASTSS ed<>+12(SB), Y12 // 3.5
	VBROADCASTSS ed<>+64(SB), Y11 // 1
	VBROADCASTSS ed<>+32(SB), Y10 // magic
	VBROADCASTSS ed<>+28(SB), Y9  // log2(e)
	VBROADCASTSS ed<>+36(SB), Y8  // ln 2, upper part

next:
	VMOVUPS (SI), Y0
	VADDPS  Y15, Y0, Y1 // x+3
	VMULPS  Y1, Y0, Y1  // a
	VADDPS  Y0, Y0, Y2
	VADDPS  Y15, Y2, Y2
	VDIVPS  Y1, Y2, Y2  // (2x+3)/a
	VADDPS  Y14, Y1, Y1
	VDIVPS  Y1, Y14, Y1 // 2/(a+2)
	VSUBPS  Y1, Y14, Y1
	VMULPS  Y1, Y2, Y1
	VMINPS  Y13, Y1, Y1 // s

	VADDPS       Y12, Y0, Y0   // y
	VDIVPS       Y0, Y11, Y2   // r
	VMULPS       Y2, Y2, Y3    // z
	VBROADCASTSS ed<>+24(SB), Y4
	VMULPS       Y4, Y3, Y4
	VBROADCASTSS ed<>+20(SB), Y5
	VSUBPS       Y4, Y5, Y4
	VMULPS       Y4, Y3, Y4
	VBROADCASTSS ed<>+16(SB), Y5
	VSUBPS       Y4, Y5, Y4
	VMULPS       Y4, Y2, Y4
	VADDPS       Y4, Y0, Y0    // e

	VMULPS       Y9, Y1, Y2
	VADDPS       Y10, Y2, Y2   // t
	VSUBPS       Y10, Y2, Y3   // k
	VMULPS       Y8, Y3, Y4
	VSUBPS       Y4, Y1, Y1
	VBROADCASTSS ed<>+40(SB), Y4
	VMULPS       Y4, Y3, Y4
	VSUBPS       Y4, Y1, Y1    // f
	VBROADCASTSS ed<>+44(SB), Y3
	VMULPS       Y3, Y1, Y3
	VBROADCASTSS ed<>+48(SB), Y4
	VSUBPS       Y3, Y4, Y3
	VMULPS       Y3, Y1, Y3
	VBROADCASTSS ed<>+52(SB), Y4
	VSUBPS       Y3, Y4, Y3
	VMULPS       Y3, Y1, Y3
	VBROADCASTSS ed<>+56(SB), Y4
	VSUBPS       Y3, Y4, Y3
	VMULPS       Y3, Y1, Y3
	VBROADCASTSS ed<>+60(SB), Y4
	VSUBPS       Y3, Y4, Y3
	VMULPS       Y3, Y1, Y3
	VSUBPS       Y3, Y11, Y3
	VMULPS       Y3, Y1, Y3
	VSUBPS       Y3, Y11, Y3   // p
	VPSLLD       $23, Y2, Y2
	VPBROADCASTD ed<>+68(SB), Y4
	VPSUBD       Y2, Y4, Y2    // 2^-k
	VMULPS       Y2, Y3, Y3
	VMULPS       Y3, Y0, Y0
	VMOVUPS      Y0, (DI)
	ADDQ         $32, SI
	ADDQ         $32, DI
	SUBQ         $8, CX
	JNE          next
	VZEROUPPER
	RET

// DOT adds the product of eight columns at R12 of the row at REG to ACC.
#define DOT(REG, ACC, T) \
	VMOVUPS (REG)(R12*1), T \
	VMULPS  Y8, T, T        \
	VADDPS  T, ACC, ACC

// ADDRESS sets REG to the address of row BX+I.
#define ADDRESS(I, REG) \
	MOVL  (I*4)(R11)(BX*4), REG \
	IMULQ DX, REG               \
	ADDQ  R10, REG

// HALVES adds the upper four lanes of Y to its lower four.
#define HALVES(Y, X, T) \
	VEXTRACTF128 $1, Y, T \
	VADDPS       T, X, X

// func divideRows(shares, dots, weights, v, table *float32, index *uint32, n, width int)
TEXT ·divideRows(SB), NOSPLIT, $0-64
	MOVQ shares+0(FP), DI
	MOVQ dots+8(FP), R8
	MOVQ weights+16(FP), R9
	MOVQ v+24(FP), SI
	MOVQ table+32(FP), R10
	MOVQ index+40(FP), R11
	MOVQ n+48(FP), CX
	MOVQ width+56(FP), DX
	SHLQ $2, DX                // bytes
	XORQ BX, BX
	SUBQ $4, CX
	JLT  rest

rows:                              // four rows at a time: their sums are independent
	ADDRESS(0, AX)
	ADDRESS(1, R13)
	ADDRESS(2, R14)
	ADDRESS(3, R15)
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	XORQ   R12, R12

columns:
	VMOVUPS (SI)(R12*1), Y8
	DOT(AX, Y0, Y4)
	DOT(R13, Y1, Y5)
	DOT(R14, Y2, Y6)
	DOT(R15, Y3, Y7)
	ADDQ    $32, R12
	CMPQ    R12, DX
	JLT     columns

	HALVES(Y0, X0, X4)
	HALVES(Y1, X1, X5)
	HALVES(Y2, X2, X6)
	HALVES(Y3, X3, X7)
	VUNPCKLPS X1, X0, X4 // lanes 0 and 1 of rows 0 and 1
	VUNPCKHPS X1, X0, X5 // lanes 2 and 3
	VADDPS    X5, X4, X4
	VUNPCKLPS X3, X2, X6
	VUNPCKHPS X3, X2, X7
	VADDPS    X7, X6, X6
	VMOVLHPS  X6, X4, X0 // 0+2 of the four rows
	VMOVHLPS  X4, X6, X1 // 1+3
	VADDPS    X1, X0, X0
	VMOVUPS   X0, (R8)(BX*4)
	VMOVUPS   (R9)(BX*4), X1
	VDIVPS    X0, X1, X1
	VMOVUPS   X1, (DI)(BX*4)
	ADDQ      $4, BX
	CMPQ      BX, CX
	JLE       rows

rest:
	ADDQ $4, CX
	CMPQ BX, CX
	JGE  done

row:
	MOVL   (R11)(BX*4), AX
	IMULQ  DX, AX
	ADDQ   R10, AX
	VXORPS Y0, Y0, Y0
	XORQ   R12, R12

column:
	VMOVUPS (AX)(R12*1), Y1
	VMULPS  (SI)(R12*1), Y1, Y1
	VADDPS  Y1, Y0, Y0
	ADDQ    $32, R12
	CMPQ    R12, DX
	JLT     column

	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VMOVSS       X0, (R8)(BX*4)
	VMOVSS       (R9)(BX*4), X1
	VDIVSS       X0, X1, X1
	VMOVSS       X1, (DI)(BX*4)
	INCQ         BX
	CMPQ         BX, CX
	JLT          row

done:
	VZEROUPPER
	RET

// ROW sets Y8 to the share of row BX and AX to the row's address.
#define ROW \
	MOVL         (R11)(BX*4), AX \
	IMULQ        DX, AX          \
	ADDQ         R10, AX         \
	VBROADCASTSS (SI)(BX*4), Y8

// TERM adds the eight columns at OFF of that row, times its share, to ACC.
#define TERM(OFF, ACC, T) \
	VMULPS OFF(AX), Y8, T \
	VADDPS T, ACC, ACC

// NEXT ends the loop over the rows.
#define NEXT(LOOP) \
	INCQ BX     \
	CMPQ BX, CX \
	JLT  LOOP

// func combineRows(dst, shares, table *float32, index *uint32, n, width int)
TEXT ·combineRows(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ shares+8(FP), SI
	MOVQ table+16(FP), R10
	MOVQ index+24(FP), R11
	MOVQ n+32(FP), CX
	MOVQ width+40(FP), R13 // columns left
	MOVQ R13, DX
	SHLQ $2, DX

block:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	XORQ   BX, BX
	CMPQ   R13, $32
	JGE    four
	CMPQ   R13, $24
	JEQ    three
	CMPQ   R13, $16
	JEQ    two
	CMPQ   R13, $8
	JEQ    one
	VZEROUPPER
	RET

four:
	ROW
	TERM(0, Y0, Y4)
	TERM(32, Y1, Y5)
	TERM(64, Y2, Y6)
	TERM(96, Y3, Y7)
	NEXT(four)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, DI
	ADDQ    $128, R10
	SUBQ    $32, R13
	JMP     block

three:
	ROW
	TERM(0, Y0, Y4)
	TERM(32, Y1, Y5)
	TERM(64, Y2, Y6)
	NEXT(three)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VZEROUPPER
	RET

two:
	ROW
	TERM(0, Y0, Y4)
	TERM(32, Y1, Y5)
	NEXT(two)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VZEROUPPER
	RET

one:
	ROW
	TERM(0, Y0, Y4)
	NEXT(one)
	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET

// func addRows(table, shares, v *float32, index *uint32, n, width int)
TEXT ·addRows(SB), NOSPLIT, $0-48
	MOVQ table+0(FP), R10
	MOVQ shares+8(FP), SI
	MOVQ v+16(FP), DI
	MOVQ index+24(FP), R11
	MOVQ n+32(FP), CX
	MOVQ width+40(FP), DX
	SHLQ $2, DX
	XORQ BX, BX

addrow:
	ROW
	XORQ R12, R12

addcolumn:
	VMULPS  (DI)(R12*1), Y8, Y0
	VADDPS  (AX)(R12*1), Y0, Y0
	VMOVUPS Y0, (AX)(R12*1)
	ADDQ    $32, R12
	CMPQ    R12, DX
	JLT     addcolumn
	NEXT(addrow)
	VZEROUPPER
	RET
