// SPDX-License-Identifier: Apache-2.0

package option_test

import (
	"fmt"

	"github.com/gvw-project/gvw/option"
)

// A rate of 0 is a choice, so it differs from a rate that is left out.
func Example() {
	var left option.Option[float32]
	given := option.Some[float32](0)
	fmt.Println(left.Or(0.5), given.Or(0.5))
	// Output: 0.5 0
}
