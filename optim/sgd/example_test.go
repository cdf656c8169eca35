// SPDX-License-Identifier: Apache-2.0

package sgd_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// Learn which words speak for a sunny day, with vw's default update rule.
func Example() {
	l, err := loss.New("logistic")
	if err != nil {
		fmt.Println(err)
		return
	}
	lr, err := sgd.New(sgd.Flags{Bits: 18}.Config(), l)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := feature.NewParser(feature.Config{Bits: 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	for i, line := range []string{"1 | blue warm", "-1 | grey wet", "1 | blue cool", "-1 | grey warm", "| blue", "| grey"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			fmt.Println(err)
			return
		}
	}

	for pass := range 3 {
		var sum float32
		for i := range b.Examples {
			if ex := &b.Examples[i]; ex.Labeled() {
				_, _, loss := lr.Learn(b.FeaturesOf(ex), ex) // the loss before the update
				sum += loss
			}
		}
		lr.EndPass()
		fmt.Printf("pass %d: mean loss %.3f\n", pass+1, sum/4)
	}
	lr.Materialize()

	for i := range b.Examples {
		if ex := &b.Examples[i]; !ex.Labeled() {
			_, prediction := lr.Predict(b.FeaturesOf(ex), ex.Initial)
			fmt.Printf("prediction %.3f\n", prediction)
		}
	}
	// Output:
	// pass 1: mean loss 0.713
	// pass 2: mean loss 0.471
	// pass 3: mean loss 0.370
	// prediction 0.801
	// prediction -0.804
}
