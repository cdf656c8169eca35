// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
)

// The numbers are those of vw's --audit.
func ExampleParser_AppendLine() {
	p, err := feature.NewParser(feature.Config{Bits: 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	if err := p.AppendLine(&b, []byte("1 0.5 'house-17 |size area:120 rooms:4 |place:2 north oops:1:2"), 1); err != nil {
		fmt.Println(err)
		return
	}
	ex := &b.Examples[0]
	fmt.Printf("label %v, weight %v, tag %s\n", ex.Label, ex.Weight, b.TagOf(ex))
	for _, s := range b.SpansOf(ex) {
		fmt.Println(s.NS, b.Features[s.Lo:s.Hi])
	}
	for _, w := range b.Warnings {
		fmt.Printf("line %d: %s\n", w.Line, w.Text)
	}
	// Output:
	// label 1, weight 0.5, tag house-17
	// 115 [{172657 120} {126866 4}]
	// 112 [{136064 2} {19625 2}]
	// 128 [{116060 1}]
	// line 1: malformed example! '|',space, or EOL expected after : "|size area:120 rooms:4 |place:2 north oops:1"; the rest of the line is ignored
}
