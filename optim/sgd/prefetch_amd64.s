// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// func prefetchCells(cells *[4]float32, fs []feature.Feature)
TEXT ·prefetchCells(SB), NOSPLIT, $0-32
	MOVQ cells+0(FP), DI
	MOVQ fs_base+8(FP), SI
	MOVQ fs_len+16(FP), CX
	TESTQ CX, CX
	JLE  done
loop:
	MOVL (SI), AX
	SHLQ $4, AX
	PREFETCHT0 (DI)(AX*1)
	ADDQ $8, SI
	DECQ CX
	JNZ  loop
done:
	RET
