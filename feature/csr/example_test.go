// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csr"
)

// A frame of two rows: 3:0.5 7:2 with label 1, and 1:1 with label -1.
func Example() {
	u32, f32 := binary.LittleEndian.AppendUint32, func(b []byte, v float32) []byte {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	frame := []byte(csr.Magic)
	frame = u32(u32(u32(frame, csr.Labels), 2), 3)                  // two rows, three values
	frame = f32(f32(frame, 1), -1)                                  // labels
	frame = u32(u32(frame, 2), 1)                                   // values of each row
	frame = f32(f32(f32(u32(u32(u32(frame, 3), 7), 1), 0.5), 2), 1) // indices, values
	p, err := csr.NewParser(feature.Config{Bits: 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	if err := p.AppendLine(&b, frame, 1); err != nil {
		fmt.Println(err)
		return
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		fmt.Println(ex.Label, b.FeaturesOf(ex))
	}
	// Output:
	// 1 [{3 0.5} {7 2} {116060 1}]
	// -1 [{1 1} {116060 1}]
}
