// SPDX-License-Identifier: Apache-2.0

package oaa_test

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/oaa"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Three classes, each with a learner of package sgd. The class with the highest score is the
// prediction.
func Example() {
	const classes, bits = 3, 18
	if err := oaa.Check(classes, bits); err != nil {
		fmt.Println(err)
		return
	}
	l, err := loss.New("squared")
	if err != nil {
		fmt.Println(err)
		return
	}
	lr, err := sgd.NewClasses(sgd.Flags{Bits: bits}.Config(), l, classes) // embeds an *oaa.Learner
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := feature.NewParser(feature.Config{Bits: bits, Labels: feature.ClassLabels})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	for i, line := range []string{"1 | bark tail", "2 | purr tail", "3 | chirp wings"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for range 4 {
		for i := range b.Examples {
			ex := &b.Examples[i]
			lr.Learn(b.FeaturesOf(ex), ex, int(ex.Label)-1) // classes count from 0
		}
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		scores := lr.Predict(b.FeaturesOf(ex), ex.Initial)
		best := slices.Index(scores, slices.Max(scores))
		fmt.Printf("class %d, scores %.1f\n", best+1, scores)
	}
	// Output:
	// class 1, scores [0.4 -0.6 -0.9]
	// class 2, scores [-0.6 0.5 -0.9]
	// class 3, scores [-0.9 -0.9 0.8]
}
