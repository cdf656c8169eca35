// SPDX-License-Identifier: Apache-2.0

package topo

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ExampleBinary() {
	t := Binary(7)
	left, right := t.Children(3)
	fmt.Println(t.Parent(3), left, right, t.Depth())
	fmt.Print(t)
	// Output:
	// -1 1 5 2
	//    ┌─ 6
	// ┌─ 5
	// │  └─ 4
	// 3
	// │  ┌─ 2
	// └─ 1
	//    └─ 0
}

func TestBinaryIsAValidTreeOfLeastDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		tree := Binary(n)
		if err := tree.Validate(); err != nil {
			t.Fatal(err)
		}
		if got, want := tree.Depth(), bits.Len(uint(n))-1; got != want {
			t.Fatalf("Binary(%d) is %d deep, want %d", n, got, want)
		}
	})
}

func TestVWIsAValidTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		tree := VW(n)
		if err := tree.Validate(); err != nil {
			t.Fatal(err)
		}
		if got, limit := tree.Depth(), bits.Len(uint(n)); got > limit {
			t.Fatalf("VW(%d) is %d deep, want at most %d", n, got, limit)
		}
	})
}

func TestDoubleTreesShareTheWork(t *testing.T) {
	for n := range 600 {
		a, b := Double(n)
		for name, tree := range map[string]Tree{"first": a, "second": b} {
			if err := tree.Validate(); err != nil {
				t.Fatalf("the %s of %d ranks: %v", name, n, err)
			}
			if n > 0 && tree.Depth() > Binary(n).Depth()+n%2 {
				t.Errorf("the %s tree of %d ranks is %d deep, Binary %d", name, n, tree.Depth(), Binary(n).Depth())
			}
		}
		for rank := range n {
			if a.Degree(rank) > 0 && b.Degree(rank) > 0 {
				t.Errorf("rank %d of %d has children in both trees", rank, n)
			}
		}
	}
}

// The parent and kid_count arrays were captured from a running spanning_tree of vw.
func TestVWShapesAreThoseOfSpanningTree(t *testing.T) {
	for _, c := range []struct{ parents, kids []int }{
		{[]int{-1}, []int{0}},
		{[]int{1, -1}, []int{0, 1}},
		{[]int{1, -1, 1}, []int{0, 2, 0}},
		{[]int{1, 3, 1, -1}, []int{0, 2, 0, 1}},
		{[]int{1, 3, 1, -1, 3}, []int{0, 2, 0, 2, 0}},
		{[]int{1, 3, 1, -1, 5, 3}, []int{0, 2, 0, 2, 0, 1}},
		{[]int{1, 3, 1, 7, 5, 3, 5, -1}, []int{0, 2, 0, 2, 0, 2, 0, 1}},
	} {
		n := len(c.parents)
		tree := VW(n)
		var parents, kids []int
		for rank := range n {
			parents = append(parents, tree.Parent(rank))
			kids = append(kids, tree.Degree(rank))
		}
		if d := cmp.Diff(c.parents, parents); d != "" {
			t.Errorf("parents of VW(%d), -want +got:\n%s", n, d)
		}
		if d := cmp.Diff(c.kids, kids); d != "" {
			t.Errorf("kid counts of VW(%d), -want +got:\n%s", n, d)
		}
	}
	if left, right := VW(16).Children(VW(16).Root()); VW(16).Root() != 15 || left == None || right != None {
		t.Errorf("VW(16): root %d with children %d and %d, want root 15 with one child, a lower one", VW(16).Root(), left, right)
	}
}

func TestValidateNamesTheFault(t *testing.T) {
	for want, damage := range map[string]func(*Tree){
		"rank 2 is a child of rank 1, but its parent is 5": func(t *Tree) { t.parent[2] = 5 },
		"rank 0 is in the tree twice":                      func(t *Tree) { t.left[5] = 0 },
		"rank 4 is not below the root":                     func(t *Tree) { t.left[5] = None },
		"rank 9 is a child of rank 5: ranks are 0 to 6":    func(t *Tree) { t.left[5] = 9 },
		"in-order position 0 has rank 2":                   func(t *Tree) { t.left[1], t.right[1] = t.right[1], t.left[1] },
		"they must be equally many":                        func(t *Tree) { t.left = t.left[1:] },
	} {
		tree := Binary(7)
		damage(&tree)
		if err := tree.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want it to say %q", err, want)
		}
	}
}

func TestDigestsDifferExactlyWhenShapesDo(t *testing.T) {
	seen := map[[32]byte]string{}
	for n := range 40 {
		for name, tree := range map[string]Tree{"Binary": Binary(n), "VW": VW(n)} {
			if other, ok := seen[tree.Digest()]; ok && other != tree.String() {
				t.Errorf("%s(%d) shares its digest with another shape:\n%s\n%s", name, n, tree, other)
			}
			seen[tree.Digest()] = tree.String()
		}
	}
	if Binary(7).Digest() != VW(7).Digest() {
		t.Error("Binary(7) and VW(7) are the same tree, their digests differ")
	}
}

func TestEmptyTree(t *testing.T) {
	tree := Binary(0)
	if tree.Size() != 0 || tree.Root() != None || tree.Depth() != 0 || tree.String() != "" || tree.Validate() != nil {
		t.Errorf("a tree without ranks is not empty: %+v", tree)
	}
	var zero Tree
	if err := zero.Validate(); err != nil {
		t.Error(err)
	}
}
