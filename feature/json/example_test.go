// SPDX-License-Identifier: Apache-2.0

package json_test

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/json"
)

// Each object inside the example is a namespace.
func Example() {
	p, err := json.NewParser(feature.Config{Bits: 18})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b feature.Batch
	line := `{"_label": 1, "_tag": "house-17", "size": {"area": 120, "rooms": 4}, "place": {"city": "Delft"}}`
	if err := p.AppendLine(&b, []byte(line), 1); err != nil {
		fmt.Println(err)
		return
	}
	ex := &b.Examples[0]
	fmt.Printf("label %v, tag %s\n", ex.Label, b.TagOf(ex))
	for _, s := range b.SpansOf(ex) {
		fmt.Println(s.NS, b.Features[s.Lo:s.Hi])
	}
	// Output:
	// label 1, tag house-17
	// 115 [{172657 120} {126866 4}]
	// 112 [{260579 1}]
	// 128 [{116060 1}]
}
