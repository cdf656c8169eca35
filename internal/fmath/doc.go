// SPDX-License-Identifier: Apache-2.0

// Package fmath computes exponentials, logarithms, powers and the digamma
// function with the same bits on every machine.
//
// The functions of package math do not: math.Exp takes another path on
// processors with fused multiply-add, math.Log is assembly on some
// architectures and Go on others. A model would then depend on the host that
// trained it, and two ranks of one job could disagree. Here everything is
// addition, multiplication and division of float64, each rounded on its own:
// every product that is added to something is converted explicitly, which
// forbids the compiler to fuse the two.
//
//	p := 1 / (1 + fmath.Exp(-x))  // a probability
//	fmath.Exp32(x)                // what C calls expf
//
// [Exp] and [Log] are within 1 unit in the last place of the exact value.
// The float32 functions compute in float64 and round once; they are within
// 0.501 units, so they nearly always agree with a correctly rounded result and
// with the C library.
package fmath
