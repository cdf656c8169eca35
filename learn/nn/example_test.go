// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/nn"
)

// A net with a hidden layer learns the exclusive or of two features, which no linear model does.
func Example() {
	m, err := nn.New(nn.Config{Inputs: 2, Hidden: []int{8}, Outputs: 1, Batch: 4, Rate: 0.2, Average: true})
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
	for pass := range 500 {
		for _, ex := range examples {
			m.Update(ex, pass)
		}
		m.EndPass(pass)
	}
	m.Finish()
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

// Two inputs of very different scales become places between −√3 and √3.
func ExampleQuantiles() {
	var sample [][]feature.Feature
	for i := range 1001 {
		x := float32(i) / 1000
		sample = append(sample, []feature.Feature{{Index: 0, Value: x * x * x}, {Index: 1, Value: 1e6 * x}})
	}
	m, err := nn.New(nn.Config{
		Inputs: 2, Outputs: 2, Quantiles: nn.Quantiles(sample, 2),
		Continue: true, Weights: [][]float32{{1, 0, 0, 1, 0, 0}}, // each output is an input
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range []int{0, 500, 750, 1000} {
		scores := m.Scores(sample[i])
		fmt.Printf("%.2f %.2f\n", scores[0], scores[1])
	}
	// Output:
	// -1.73 -1.73
	// 0.00 0.00
	// 0.87 0.87
	// 1.73 1.73
}
