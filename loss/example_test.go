// SPDX-License-Identifier: Apache-2.0

package loss_test

import (
	"fmt"

	"github.com/gvw-project/gvw/loss"
)

// The logistic loss of a raw prediction, its update, and the prediction as a probability.
func Example() {
	l, err := loss.New("logistic")
	if err != nil {
		fmt.Println(err)
		return
	}
	link, err := loss.NewLink("logistic")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, fixed := loss.DefaultRange(l)
	fmt.Printf("predictions from %v to %v, fixed: %v\n", r.Min, r.Max, fixed)

	const raw, label = 2, 1
	p := r.Clip(raw)
	fmt.Printf("loss %.4f, slope %.4f, probability %.4f\n", l.Loss(r, p, label), l.First(r, p, label), link.Apply(p))

	// With a rate of 0.5, one unit of update changes this prediction by 3.
	const rate, perUpdate = 0.5, 3
	step := l.Update(p, label, rate, perUpdate)
	fmt.Printf("update %.4f, prediction after it %.4f\n", step, p+step*perUpdate)
	// Output:
	// predictions from -50 to 50, fixed: true
	// loss 0.1269, slope -0.1192, probability 0.8808
	// update 0.0553, prediction after it 2.1660
}

// An update with an importance weight of 2 is two updates with a weight of 1.
func ExampleLoss_update() {
	l, err := loss.New("squared")
	if err != nil {
		fmt.Println(err)
		return
	}
	const label, rate, perUpdate = 1, 0.5, 1
	once := l.Update(0, label, 2*rate, perUpdate)
	first := l.Update(0, label, rate, perUpdate)
	second := l.Update(first, label, rate, perUpdate)
	fmt.Printf("%.4f = %.4f + %.4f\n", once, first, second)
	// Output:
	// 0.8647 = 0.6321 + 0.2325
}
