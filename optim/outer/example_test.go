// SPDX-License-Identifier: Apache-2.0

package outer_test

import (
	"fmt"

	"github.com/gvw-project/gvw/optim/outer"
)

// Two learners take short steps towards the minima 1 and 3 of their own losses. The outer optimiser brings their
// common weight to 2 in fewer rounds than plain averaging.
func Example() {
	for _, c := range []outer.Config{{}, {Momentum: 0.5}} {
		weight := []float32{0}
		o, err := outer.New(c, weight)
		if err != nil {
			fmt.Println(err)
			return
		}
		for range 8 {
			mean := float32(0)
			for _, minimum := range []float32{1, 3} {
				mean += (weight[0] + 0.1*(minimum-weight[0])) / 2
			}
			weight[0] = mean
			o.Step(weight)
		}
		fmt.Printf("plain %v: %.1f\n", c.Plain(), weight[0])
	}
	// Output:
	// plain true: 1.1
	// plain false: 1.7
}
