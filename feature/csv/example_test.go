// SPDX-License-Identifier: Apache-2.0

package csv_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
)

// The header names the columns. A bar separates a namespace from the name of a feature.
func Example() {
	p, err := csv.NewParser(feature.Config{Bits: 18}, csv.Config{Label: "price"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	if err := p.Header(&b, []byte("price,size|area,size|rooms,city\n")); err != nil {
		fmt.Println(err)
		return
	}
	for i, row := range []string{"310,120,4,Delft\n", "190,75,,Gouda\n"} {
		if err := p.AppendLine(&b, []byte(row), int64(i+2)); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		fmt.Printf("label %v, %d features and the constant\n", ex.Label, len(b.FeaturesOf(ex))-1)
	}
	// Output:
	// label 310, 3 features and the constant
	// label 190, 2 features and the constant
}
