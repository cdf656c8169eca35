// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/nn"
)

// A net with a hidden layer learns the exclusive or of two features, which no linear model does.
func Example() {
	m, err := nn.New(nn.Config{Inputs: 2, Hidden: []int{8}, Outputs: 1, Batch: 4, Rate: 0.2})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := feature.Feature{Index: 0, Value: 1}, feature.Feature{Index: 1, Value: 1}
	examples := []nn.Example{
		{Class: 0, Weight: 1},
		{Class: 1, Weight: 1, Features: []feature.Feature{a}},
		{Class: 1, Weight: 1, Features: []feature.Feature{b}},
		{Class: 0, Weight: 1, Features: []feature.Feature{a, b}},
	}
	for pass := range 200 {
		for _, ex := range examples {
			m.Update(ex, pass)
		}
		m.Flush(pass)
	}
	for _, ex := range examples {
		scores := m.Scores(ex.Features)
		fmt.Printf("class %d, with probability above 0.9: %v\n", nn.Choose(scores), nn.Probability(scores, ex.Class) > 0.9)
	}
	// Output:
	// class 0, with probability above 0.9: true
	// class 1, with probability above 0.9: true
	// class 1, with probability above 0.9: true
	// class 0, with probability above 0.9: true
}
