// SPDX-License-Identifier: Apache-2.0

package svm_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/svm"
)

func Example() {
	examples := []svm.Example{
		{Label: 1, Weight: 1, Features: []feature.Feature{{Index: 0, Value: 1}, {Index: 2, Value: 1}}},
		{Label: -1, Weight: 1, Features: []feature.Feature{{Index: 1, Value: 1}, {Index: 2, Value: 1}}},
	}
	config := svm.Config{Size: 3, Lambda: 0.01, Average: true}
	var err error
	if config.T0, err = svm.Tune(config, examples); err != nil {
		fmt.Println(err)
		return
	}
	m, err := svm.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 500 {
		for _, ex := range examples {
			m.Update(ex)
		}
	}
	o := m.Evaluate(examples)
	fmt.Printf("accuracy %v, objective %.2f\n", o.Accuracy, o.Value())
	// Output: accuracy 1, objective 0.01
}
