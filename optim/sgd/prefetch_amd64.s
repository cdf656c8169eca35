// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// The prefetches of this package go to the second cache (T1). On a virtual Zen 4, about half of those to the first cache
// (T0) had no effect: see bench/README.md.

// func prefetchWeights(w *float32, shift uint, fs []feature.Feature)
TEXT ·prefetchWeights(SB), NOSPLIT, $0-40
	MOVQ w+0(FP), DI
	MOVQ shift+8(FP), CX
	MOVQ fs_base+16(FP), SI
	MOVQ fs_len+24(FP), DX
	TESTQ DX, DX
	JLE  done
loop:
	MOVL (SI), AX
	SHLQ CX, AX
	PREFETCHT1 (DI)(AX*1)
	ADDQ $8, SI
	DECQ DX
	JNZ  loop
done:
	RET

// func prefetchBuckets(slots *uint64, buckets int, fs []feature.Feature)
TEXT ·prefetchBuckets(SB), NOSPLIT, $0-40
	MOVQ slots+0(FP), DI
	MOVQ buckets+8(FP), DX
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
	SHLQ $6, AX
	PREFETCHT1 (DI)(AX*1)
	ADDQ $8, SI
	DECQ CX
	JNZ  next
end:
	RET
