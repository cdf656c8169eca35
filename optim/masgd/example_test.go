// SPDX-License-Identifier: Apache-2.0

package masgd_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/masgd"
)

// Two replicas learn from their own examples, whose labels are 2·x and 4·x, and are averaged after each round.
func Example() {
	squared, err := loss.New("squared")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := masgd.Config{Loss: squared, Rate: 0.1}
	weights := []float32{0}
	for range 20 {
		mean := float32(0)
		for _, slope := range []float32{2, 4} {
			replica := []float32{weights[0]}
			l, err := masgd.New(c, replica)
			if err != nil {
				fmt.Println(err)
				return
			}
			l.Range = loss.Range{Min: -10, Max: 10}
			l.Begin(replica, nil, 0)
			for _, x := range []float32{0.5, 1} {
				l.Learn([]feature.Feature{{Index: 0, Value: x}}, &feature.Example{Label: slope * x, Weight: 1})
			}
			l.End()
			mean += replica[0] / 2
		}
		weights[0] = mean
	}
	fmt.Printf("%.2f\n", weights[0])
	// Output: 2.99
}
