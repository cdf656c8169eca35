// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package kernels

func weighFast(_, _, _ []float32, _, _ int) int { return 0 }
