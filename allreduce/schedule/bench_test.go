// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"testing"
)

// BenchmarkProgram makes a program, which a group does once per kind of call.
func BenchmarkProgram(b *testing.B) {
	for _, s := range []Spec{
		{Schedule: Doubling, Size: 8, Bytes: 4},
		{Schedule: Halving, Size: 1000, Bytes: 64 << 20},
		{Schedule: Ring, Size: 1000, Bytes: 64 << 20},
		{Schedule: DoubleTree, Size: 8, Bytes: 64 << 20},
		{Schedule: Direct, Size: 1000, Bytes: 64 << 20},
	} {
		b.Run(fmt.Sprintf("%v/%d/%d", s.Schedule, s.Size, s.Bytes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.AllReduce(s.Size / 3)
			}
		})
	}
}

func BenchmarkPick(b *testing.B) {
	for b.Loop() {
		Spec{Size: 8, Bytes: 1 << 20}.Pick()
	}
}
