// SPDX-License-Identifier: Apache-2.0

package factor_test

import (
	"fmt"

	"github.com/gvw-project/gvw/learn/factor"
)

// Users 0 and 1 like item 0, users 2 and 3 like item 1. User 3 has not rated item 0 yet.
func Example() {
	m, err := factor.New(factor.Config{Users: 4, Items: 2, Factors: 2, Rate: 0.1, Mean: 3, Low: 1, High: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	ratings := []factor.Rating{
		{User: 0, Item: 0, Value: 5},
		{User: 0, Item: 1, Value: 1},
		{User: 1, Item: 0, Value: 5},
		{User: 1, Item: 1, Value: 1},
		{User: 2, Item: 0, Value: 1},
		{User: 2, Item: 1, Value: 5},
		{User: 3, Item: 1, Value: 5},
	}
	for pass := range 500 {
		for _, r := range ratings {
			m.Update(r, pass)
		}
	}
	fmt.Printf("user 0, item 0: %.0f\n", m.Predict(0, 0))
	fmt.Printf("user 2, item 0: %.0f\n", m.Predict(2, 0))
	fmt.Printf("user 3 rates item 0 below item 1: %v\n", m.Predict(3, 0) < m.Predict(3, 1))
	// Output:
	// user 0, item 0: 5
	// user 2, item 0: 1
	// user 3 rates item 0 below item 1: true
}
