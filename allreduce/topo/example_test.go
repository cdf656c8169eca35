// SPDX-License-Identifier: Apache-2.0

package topo_test

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/topo"
)

// The balanced tree of seven ranks. Rank 3 is the root; a sum of left + own + right adds the
// operands in the order of the ranks.
func ExampleBinary() {
	t := topo.Binary(7)
	left, right := t.Children(t.Root())
	fmt.Println("root", t.Root(), "children", left, right, "depth", t.Depth())
	fmt.Print(t)
	// Output:
	// root 3 children 1 5 depth 2
	//    ┌─ 6
	// ┌─ 5
	// │  └─ 4
	// 3
	// │  ┌─ 2
	// └─ 1
	//    └─ 0
}

// With eight ranks vw's tree is one level deeper than the balanced one.
func ExampleVW() {
	fmt.Println(topo.VW(8).Depth(), topo.Binary(8).Depth())
	fmt.Println(topo.VW(8).Digest() == topo.Binary(8).Digest())
	// Output:
	// 3 3
	// false
}
