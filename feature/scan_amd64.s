// SPDX-License-Identifier: Apache-2.0

//go:build !noasm

#include "textflag.h"

// func markAVX2(dst *uint32, text *byte, blocks int) (n int)
//
// The places of the bytes ':', '|' and up to ' ' in 64·blocks bytes of text.
// For each 64 bytes 8 places are written, whether they are there or not, then
// the rest by a loop: usual text needs none or one round of it.
TEXT ·markAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ blocks+16(FP), CX
	MOVQ DI, R15
	XORL BX, BX // the place of the block
	MOVL $0x3a3a3a3a, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	MOVL $0x7c7c7c7c, AX
	VMOVD AX, X2
	VPBROADCASTD X2, Y2
	MOVL $0x20202020, AX
	VMOVD AX, X3
	VPBROADCASTD X3, Y3

block:
	DECQ CX
	JS   marked
	VMOVDQU (SI)(BX*1), Y4
	VMOVDQU 32(SI)(BX*1), Y5
	VPMINUB Y3, Y4, Y6
	VPMINUB Y3, Y5, Y7
	VPCMPEQB Y4, Y6, Y6
	VPCMPEQB Y5, Y7, Y7
	VPCMPEQB Y1, Y4, Y8
	VPCMPEQB Y1, Y5, Y9
	VPCMPEQB Y2, Y4, Y4
	VPCMPEQB Y2, Y5, Y5
	VPOR Y6, Y8, Y6
	VPOR Y7, Y9, Y7
	VPOR Y4, Y6, Y6
	VPOR Y5, Y7, Y7
	VPMOVMSKB Y6, AX
	VPMOVMSKB Y7, DX
	SHLQ $32, DX
	ORQ  DX, AX
	POPCNTQ AX, R8
	LEAQ (DI)(R8*4), R9

some:
#define MARK(i) \
	TZCNTQ AX, R10; \
	ADDL BX, R10; \
	MOVL R10, (i*4)(DI); \
	BLSRQ AX, AX
	MARK(0)
	MARK(1)
	MARK(2)
	MARK(3)
	MARK(4)
	MARK(5)
	MARK(6)
	MARK(7)
	ADDQ $32, DI
	TESTQ AX, AX
	JNZ  some
	MOVQ R9, DI
	ADDQ $64, BX
	JMP  block

marked:
	VZEROUPPER
	SUBQ R15, DI
	SHRQ $2, DI
	MOVQ DI, n+24(FP)
	RET

DATA digits<>+0(SB)/8, $0x3030303030303030
DATA digits<>+8(SB)/8, $0x7676767676767676
DATA digits<>+16(SB)/8, $0x8080808080808080
DATA digits<>+24(SB)/8, $0x000000ff000000ff
DATA digits<>+32(SB)/8, $0x000f424000000064
DATA digits<>+40(SB)/8, $0x0000271000000001
DATA digits<>+48(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA digits<>+56(SB)/8, $0x0101010101010101
GLOBL digits<>(SB), RODATA|NOPTR, $64

// SCRAMBLE makes a block of MurmurHash3 ready to be mixed in.
#define SCRAMBLE(r) \
	IMULL $0xcc9e2d51, r; \
	ROLL $15, r; \
	IMULL $0x1b873593, r

// BLOCK mixes a block into h, and leaves the result in its place.
#define BLOCK(r, h) \
	SCRAMBLE(r); \
	XORL h, r; \
	ROLL $13, r; \
	LEAL -0x19ab949c(r)(r*4), r

// NUMBER turns the 1 to 7 characters of text in r, as many bits as bits says, into
// their value, if all are digits. It spoils bits, t and u.
#define NUMBER(r, bits, t, u, otherwise) \
	NEGQ bits; \
	SHLXQ bits, r, r; \
	SHLXQ bits, R13, t; \
	XORQ t, r; \
	MOVQ digits<>+8(SB), t; \
	ADDQ r, t; \
	ORQ  r, t; \
	TESTQ t, R14; \
	JNZ  otherwise; \
	LEAQ (r)(r*4), t; \
	ADDQ t, t; \
	SHRQ $8, r; \
	ADDQ t, r; \
	MOVQ digits<>+24(SB), t; \
	MOVQ r, u; \
	ANDQ t, r; \
	IMULQ digits<>+32(SB), r; \
	SHRQ $16, u; \
	ANDQ t, u; \
	IMULQ digits<>+40(SB), u; \
	ADDQ u, r; \
	SHRQ $32, r

// func scanAVX2(s *scanner)
//
// AX start of the name, then of the value   SI text     R8  the mark in front
// BX length of it, in bits                  DI out      R9  last start
// CX the eight bytes there                  X0 factor   R10 salt
// DX end of it                              R13 '0' × 8 R11 scratch, R12 hash
// R15 the stop behind it                    R14 0x80 × 8
TEXT ·scanAVX2(SB), NOSPLIT, $8-8
	MOVQ s+0(FP), BP
	MOVQ 0(BP), SI
	MOVQ 8(BP), R8
	MOVQ 16(BP), DI
	MOVQ 24(BP), R9
	MOVL 32(BP), R10
	MOVSS 40(BP), X0
	MOVQ digits<>+0(SB), R13
	MOVQ digits<>+16(SB), R14

next:
	MOVLQZX (R8), AX
	MOVLQZX 4(R8), DX
	INCQ AX
	CMPQ AX, R9
	JGT  done
	MOVQ DX, BX
	SUBQ AX, BX
	LEAQ -1(BX), R11
	CMPQ R11, $7
	JAE  long // or none
	MOVQ (SI)(AX*1), CX
	MOVBLZX (SI)(DX*1), R15
	MOVL BX, R12
	SHLQ $3, BX
	MOVBLZX CX, R11
	SUBL $0x30, R11
	CMPL R11, 44(BP)
	JCS  numeric

	// MurmurHash3 of up to 7 bytes: a block if there are 4, then the rest.
	BZHIQ BX, CX, CX
	XORL R10, R12 // the salt and the length
	MOVL CX, AX
	BLOCK(AX, R10)
	SHRL $3, BX
	XORL BX, AX   // the same after a block
	MOVQ CX, R11
	SHRQ $32, R11
	CMPL BX, $4
	CMOVLCC AX, R12
	CMOVQCC R11, CX

tail:
	SCRAMBLE(CX)
	XORL CX, R12
	MOVL R12, CX
	SHRL $16, CX
	XORL CX, R12
	IMULL $0x85ebca6b, R12
	MOVL R12, CX
	SHRL $13, CX
	XORL CX, R12
	IMULL $0xc2b2ae35, R12
	MOVL R12, CX
	SHRL $16, CX
	XORL CX, R12

hashed:
	ANDL 36(BP), R12
	MOVL R12, (DI)
	CMPL R15, $0x3a
	JEQ  value
	CMPL R15, $0x20
	JEQ  bare
	CMPL R15, $0x09
	JNE  done

bare:
	MOVSS X0, 4(DI)
	ADDQ 48(BP), DI
	ADDQ $4, R8
	JMP  next

long:
	// A name of 8 to 15 bytes: two blocks, a third one if there are 12, then the rest.
	CMPQ R11, $15
	JAE  done // none, or a longer one
	LEAQ 8(AX), R11
	CMPQ R11, R9
	JGT  done // the reach counts from the last 7 bytes of a name, at most
	MOVQ (SI)(AX*1), CX
	MOVBLZX (SI)(DX*1), R15
	MOVBLZX CX, R12
	SUBL $0x30, R12
	CMPL R12, 44(BP)
	JCS  done // perhaps a number
	MOVQ (SI)(R11*1), R11
	MOVL CX, AX
	SHRQ $32, CX
	BLOCK(AX, R10)
	BLOCK(CX, AX)
	MOVL BX, R12
	SHLQ $3, BX
	SUBQ $64, BX
	BZHIQ BX, R11, R11
	MOVL R11, AX
	BLOCK(AX, CX)
	XORL R12, AX // the length, after three blocks
	XORL CX, R12 // the same after two
	MOVQ R11, CX
	SHRQ $32, R11
	CMPL BX, $32
	CMOVLCC AX, R12
	CMOVQCC R11, CX
	JMP  tail

numeric:
	// Digits alone are their value.
	BZHIQ BX, CX, CX
	NUMBER(CX, BX, R11, R12, done)
	LEAL (CX)(R10*1), R12
	JMP  hashed

value:
	MOVLQZX 8(R8), BX
	LEAQ 1(DX), AX
	SUBQ AX, BX
	CMPQ BX, $8
	JHI  done
	LEAQ (AX)(BX*1), DX
	MOVBLZX (SI)(DX*1), R15
	MOVBLZX (SI)(AX*1), CX
	XORL $0x2d, CX
	CMPL CX, $1
	SBBQ R12, R12 // -1: negative
	SUBQ R12, AX
	ADDQ R12, BX
	LEAQ -1(BX), R11
	CMPQ R11, $7
	JAE  done
	CMPL R15, $0x20
	JEQ  number
	CMPL R15, $0x09
	JNE  done

number:
	MOVQ (SI)(AX*1), CX
	SHLQ $3, BX
	BZHIQ BX, CX, CX
	XORL DX, DX // decimals, in bits
	MOVQ digits<>+48(SB), R11
	XORQ CX, R11
	MOVQ R11, AX
	SUBQ digits<>+56(SB), R11
	ANDNQ R11, AX, R11
	ANDQ R14, R11
	JEQ  whole

	// Close the gap that the point leaves.
	TZCNTQ R11, R11
	SUBQ $7, R11
	SUBQ $8, BX
	JEQ  done
	MOVQ BX, DX
	SUBQ R11, DX
	MOVQ CX, AX
	SHRQ $8, AX
	BZHIQ R11, CX, CX
	BZHIQ R11, AX, R15
	XORQ R15, AX
	ORQ  AX, CX

whole:
	NUMBER(CX, BX, R11, AX, done)
	XORPS X1, X1
	CVTSL2SS CX, X1
	SHRL $1, DX // four bytes a power, eight bits a decimal
	MOVQ 56(BP), R11
	MULSS (R11)(DX*1), X1
	MOVD X1, CX
	SHLL $31, R12
	ORL  R12, CX
	MOVD CX, X1
	MULSS X0, X1
	MOVD X1, CX
	MOVL CX, 4(DI)
	XORL AX, AX
	ADDL CX, CX
	SETNE AX
	LEAQ (DI)(AX*8), DI
	ADDQ $8, R8
	JMP  next

done:
	SUBQ 8(BP), R8
	SHRQ $2, R8
	MOVQ R8, 64(BP)
	SUBQ 16(BP), DI
	SHRQ $3, DI
	MOVQ DI, 72(BP)
	RET
