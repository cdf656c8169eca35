// SPDX-License-Identifier: Apache-2.0

package ftrl_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/ftrl"
)

// The proximal rule with an L1 penalty leaves the weights of rare features at 0.
func Example() {
	l, err := loss.New("logistic")
	if err != nil {
		fmt.Println(err)
		return
	}
	lr, err := ftrl.New(ftrl.Config{Rule: ftrl.Proximal, Bits: 18, Alpha: 0.5, Beta: 1, L1: 0.6}, l)
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := feature.Config{Bits: 18, NoConstant: true}
	p, err := feature.NewParser(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	for i, line := range []string{"1 | blue warm", "-1 | grey wet", "1 | blue cool", "-1 | grey still"} {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		lr.Learn(b.FeaturesOf(ex), ex)
	}
	for _, word := range []string{"blue", "grey", "warm", "wet"} {
		x := []feature.Feature{{Index: cfg.Index("", word), Value: 1}}
		raw, _ := lr.Predict(x, 0)
		fmt.Printf("%s %.3f\n", word, raw)
	}
	// Output:
	// blue 0.117
	// grey -0.117
	// warm 0.000
	// wet 0.000
}
