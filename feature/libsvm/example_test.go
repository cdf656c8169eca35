// SPDX-License-Identifier: Apache-2.0

package libsvm_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/libsvm"
)

// The number of a feature is its index in the weights.
func Example() {
	p, err := libsvm.NewParser(feature.Config{Bits: 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	for i, line := range []string{"+1 3:0.5 7:2", "-1 1:1 # a comment"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		fmt.Println(ex.Label, b.FeaturesOf(ex))
	}
	// Output:
	// 1 [{3 0.5} {7 2} {116060 1}]
	// -1 [{1 1} {116060 1}]
}
