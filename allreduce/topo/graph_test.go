// SPDX-License-Identifier: Apache-2.0

package topo

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

var small = Graph{Size: 3, Links: []Link{{0, 1, 1, 8}, {0, 2, 2, 16}, {1, 0, 1, 8}, {2, 0, 1, 4}, {2, 1, 1, 0}}}

func ExampleGraph_ASCII() {
	fmt.Print(small.ASCII())
	// Output:
	//   0 <-> 1  8 bytes in 1 message each way
	//   0 <-> 2  16 bytes in 2 messages; back 4 bytes in 1 message
	//   2 --> 1  0 bytes in 1 message
}

func TestDOTHasAllRanksAndLinks(t *testing.T) {
	dot := small.DOT()
	for _, want := range []string{"digraph", "  1;\n", "0 -> 2 [label=\"16\"", "2 -> 1 [label=\"0\""} {
		if !strings.Contains(dot, want) {
			t.Errorf("DOT() lacks %q:\n%s", want, dot)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	svg := small.SVG("0 < 1 & more")
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["circle"] != 3 || count["line"] != 5 {
		t.Errorf("SVG() has %d circles and %d lines, want 3 and 5", count["circle"], count["line"])
	}
}
