// SPDX-License-Identifier: Apache-2.0

package logmulti

import (
	"cmp"
	"slices"
)

// scores are the sum and the mean of scores. The mean has the sum's float32, as in vw.
type scores struct {
	sum  float64
	mean float32
	n    uint32
}

func (s *scores) add(raw float32) {
	s.sum += float64(raw)
	s.n++
	s.mean = float32(s.sum) / float32(s.n)
}

// class is what a node keeps of the examples of a class.
type class struct {
	scores // at an inner node

	label uint32
	count uint32 // examples that have reached the node
}

// node is a node of the tree.
type node struct {
	scores // of all examples at an inner node

	parent  uint32
	classes []class // by label
	// least is the number of examples of a leaf, and the smallest one of the leaves below an inner node.
	// The leaves that replace a leaf begin with half of its examples.
	least uint32
	inner bool

	learner     uint32 // of an inner node
	left, right uint32

	most  uint32 // examples of the most frequent class of a leaf
	label uint32 // of that class
}

// next returns the child to which a score leads.
func (n *node) next(score float32) uint32 {
	if score < 0 {
		return n.left
	}
	return n.right
}

// empty makes the node a leaf without examples. It keeps the memory of the classes.
func (n *node) empty() {
	*n = node{parent: n.parent, least: n.least, classes: n.classes[:0], label: 1}
}

// tree has its root at 0. Numbers of examples are modulo 2^32, as in vw.
type tree struct {
	nodes    []node
	most     int    // learners that the tree may have
	used     int    // learners that it has
	resists  uint32 // against swaps
	progress bool   // kept for vw
}

// newTree returns a tree of one leaf.
func newTree(learners int, resists uint32, progress bool) *tree {
	return &tree{nodes: []node{{label: 1}}, most: learners, resists: resists, progress: progress}
}

// visit counts an example of a class at a node, and makes it an inner one if it is time. It returns
// the node and the class there, until the next visit.
func (t *tree) visit(at, label uint32) (*node, *class) {
	n := &t.nodes[at]
	i, found := slices.BinarySearchFunc(n.classes, label, func(c class, label uint32) int { return cmp.Compare(c.label, label) })
	if !found {
		n.classes = slices.Insert(n.classes, i, class{label: label})
	}
	c := &n.classes[i]
	c.count++
	if n.inner {
		return n, c
	}
	if c.count > n.most {
		n.most, n.label = c.count, label
	}
	if len(n.classes) > 1 {
		t.split(at)
	}
	n = &t.nodes[at] // the nodes may have moved
	return n, &n.classes[i]
}

// split gives a leaf a learner and two leaves, if there are any.
func (t *tree) split(at uint32) {
	n := &t.nodes[at]
	var left, right, learner uint32
	switch {
	case t.used < t.most:
		left, right, learner = uint32(len(t.nodes)), uint32(len(t.nodes)+1), uint32(t.used)
		t.nodes = append(t.nodes, node{label: 1}, node{label: 1})
		t.used++
		n = &t.nodes[at]
	case n.least-n.most > t.resists*(t.nodes[0].least+1):
		leaf := t.emptiest()
		if leaf == at || leaf == 0 {
			return // the product has overflowed; vw does not return from here
		}
		left, right, learner = leaf, t.nodes[leaf].parent, t.nodes[t.nodes[leaf].parent].learner
		t.cut(leaf)
	default:
		return
	}
	l, r := &t.nodes[left], &t.nodes[right]
	l.parent, r.parent = at, at
	l.least = n.least / 2
	r.least = n.least - l.least
	l.label, r.label = n.label, n.label
	n.inner, n.learner, n.left, n.right = true, learner, left, right
	t.climb(left)
}

// emptiest returns the leaf with the fewest examples.
func (t *tree) emptiest() uint32 {
	at := uint32(0)
	for n := &t.nodes[0]; n.inner; n = &t.nodes[at] {
		at = n.right
		if t.nodes[n.left].least < t.nodes[n.right].least {
			at = n.left
		}
	}
	return at
}

// cut takes a leaf and its parent out of the tree, where its sibling follows the parent. As in vw the
// root is no exception: it then is a leaf below the one that gets it, so that the tree is one leaf from
// there on.
func (t *tree) cut(leaf uint32) {
	parent := t.nodes[leaf].parent
	p := &t.nodes[parent]
	sibling := p.right
	if leaf == p.right {
		sibling = p.left
	}
	above := p.parent
	if g := &t.nodes[above]; g.left == parent {
		g.left = sibling
	} else {
		g.right = sibling
	}
	t.nodes[sibling].parent = above
	t.climb(sibling)
	t.nodes[leaf].empty()
	p.empty()
}

// arrive counts an example that has reached a leaf.
func (t *tree) arrive(leaf uint32) {
	t.nodes[leaf].least++
	t.climb(leaf)
}

// climb computes least of the nodes above one that has changed.
func (t *tree) climb(at uint32) {
	for at != 0 {
		below := t.nodes[at].least
		at = t.nodes[at].parent
		n := &t.nodes[at]
		if n.least == below {
			return
		}
		n.least = min(t.nodes[n.left].least, t.nodes[n.right].least)
	}
}
