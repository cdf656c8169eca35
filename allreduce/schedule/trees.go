// SPDX-License-Identifier: Apache-2.0

package schedule

// PipelinedTree is the all-reduce along a binary tree in the order of the
// ranks: sums go up, results come down while later ones are still going up. The
// sum at every rank is (left + own) + right.
func PipelinedTree(t Tree, rank, bytes int) *Program {
	b := newBuilder(t.Size(), rank, bytes)
	left, right := t.Children(rank)
	up := t.Parent(rank)
	if left != None {
		b.add(Below, left, 0, bytes)
	}
	if right != None {
		b.add(Above, right, 0, bytes)
	}
	if up != None {
		b.add(Give, up, 0, bytes)
		b.add(Take, up, 0, bytes)
	}
	for _, child := range [...]int{left, right} {
		if child != None {
			b.add(Give, child, 0, bytes)
		}
	}
	return b.seal()
}
