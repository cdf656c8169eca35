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

// func prefetchSlots(slots *uint64, n int, fs []feature.Feature)
TEXT ·prefetchSlots(SB), NOSPLIT, $0-40
	MOVQ slots+0(FP), DI
	MOVQ n+8(FP), DX
	MOVQ fs_base+16(FP), SI
	MOVQ fs_len+24(FP), CX
	MOVQ $0x9e3779b97f4a7c15, R8
	TESTQ CX, CX
	JLE  end
next:
	MOVL (SI), AX
	IMULQ R8, AX
	SHRQ $32, AX
	IMULQ DX, AX
	SHRQ $32, AX
	PREFETCHT0 (DI)(AX*8)
	ADDQ $8, SI
	DECQ CX
	JNZ  next
end:
	RET
