// SPDX-License-Identifier: Apache-2.0

package logmulti

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/learn/internal/reduction"
)

var (
	_ reduction.Sectioned = (*learner)(nil)
	_ reduction.Growing   = (*learner)(nil)
)

// Sizes of the section, whose form package model describes.
const (
	headSize  = 29
	nodeSize  = 13 // of the part that leaves and inner nodes have
	innerSize = 28
	leafSize  = 8
	classSize = 24
)

// AppendSection appends the tree as vw's models have it.
func (l *learner) AppendSection(dst []byte) []byte {
	le := binary.LittleEndian
	flag := func(on bool) byte {
		if on {
			return 1
		}
		return 0
	}
	t := l.tree
	dst = le.AppendUint32(dst, uint32(t.most))
	dst = le.AppendUint32(dst, uint32(len(t.nodes)))
	dst = le.AppendUint64(dst, uint64(t.most))
	dst = le.AppendUint64(dst, uint64(t.used))
	dst = le.AppendUint32(append(dst, flag(t.progress)), t.resists)
	for i := range t.nodes {
		n := &t.nodes[i]
		dst = le.AppendUint32(dst, n.parent)
		dst = le.AppendUint32(dst, uint32(len(n.classes)))
		dst = append(le.AppendUint32(dst, n.least), flag(n.inner))
		if n.inner {
			dst = le.AppendUint32(dst, n.learner)
			dst = le.AppendUint32(dst, n.left)
			dst = le.AppendUint32(dst, n.right)
			dst = le.AppendUint32(dst, math.Float32bits(n.mean))
			dst = le.AppendUint64(dst, math.Float64bits(n.sum))
			dst = le.AppendUint32(dst, n.n)
		} else {
			dst = le.AppendUint32(dst, n.most)
			dst = le.AppendUint32(dst, n.label)
		}
		for i := range n.classes {
			c := &n.classes[i]
			dst = le.AppendUint64(dst, math.Float64bits(c.sum))
			dst = le.AppendUint32(dst, math.Float32bits(c.mean))
			dst = le.AppendUint32(dst, c.n)
			dst = le.AppendUint32(dst, c.label)
			dst = le.AppendUint32(dst, c.count)
		}
	}
	return dst
}

// SetSection takes the tree of a model. As in vw its resistance to swaps comes with it.
func (l *learner) SetSection(p []byte) error {
	t, err := readTree(p, l.tree.most)
	if err != nil {
		return fmt.Errorf("the tree of classes: %w", err)
	}
	l.tree = t
	return nil
}

// readTree reads a tree that may have a number of learners.
func readTree(p []byte, most int) (*tree, error) {
	le := binary.LittleEndian
	if len(p) < headSize {
		return nil, fmt.Errorf("it is cut off after %d bytes", len(p))
	}
	nodes, used := le.Uint32(p[4:]), le.Uint64(p[16:])
	switch {
	case le.Uint64(p[8:]) != uint64(most):
		return nil, fmt.Errorf("it may have %d learners, want %d", le.Uint64(p[8:]), most)
	case used > uint64(most) || uint64(nodes) != 2*used+1:
		return nil, fmt.Errorf("it has %d learners of %d, and %d nodes, want one node more than twice the learners", used, most, nodes)
	}
	t := &tree{most: most, used: int(used), progress: p[24] != 0, resists: le.Uint32(p[25:])}
	p = p[headSize:]
	for i := range nodes {
		n, rest, err := readNode(p)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
		t.nodes, p = append(t.nodes, n), rest
	}
	if len(p) > 0 {
		return nil, fmt.Errorf("%d bytes follow its nodes", len(p))
	}
	return t, t.check()
}

// readNode reads a node, and returns the bytes after it.
func readNode(p []byte) (n node, rest []byte, err error) {
	le := binary.LittleEndian
	if len(p) < nodeSize+leafSize {
		return n, nil, fmt.Errorf("it is cut off after %d bytes", len(p))
	}
	classes := le.Uint32(p[4:])
	n = node{parent: le.Uint32(p), least: le.Uint32(p[8:]), inner: p[12] != 0, label: 1}
	switch p = p[nodeSize:]; {
	case n.inner && len(p) < innerSize:
		return n, nil, fmt.Errorf("it is cut off after %d bytes", nodeSize+len(p))
	case n.inner:
		n.learner, n.left, n.right = le.Uint32(p), le.Uint32(p[4:]), le.Uint32(p[8:])
		n.scores = scores{math.Float64frombits(le.Uint64(p[16:])), math.Float32frombits(le.Uint32(p[12:])), le.Uint32(p[24:])}
		p = p[innerSize:]
	default:
		n.most, n.label = le.Uint32(p), le.Uint32(p[4:])
		p = p[leafSize:]
	}
	if uint64(classes) > uint64(len(p)/classSize) {
		return n, nil, fmt.Errorf("it has %d classes, and %d bytes are left", classes, len(p))
	}
	n.classes = make([]class, classes)
	for i := range n.classes {
		n.classes[i] = class{
			scores{math.Float64frombits(le.Uint64(p)), math.Float32frombits(le.Uint32(p[8:])), le.Uint32(p[12:])},
			le.Uint32(p[16:]), le.Uint32(p[20:]),
		}
		if i > 0 && n.classes[i].label <= n.classes[i-1].label {
			return n, nil, fmt.Errorf("label %d follows label %d, want ascending ones", n.classes[i].label, n.classes[i-1].label)
		}
		p = p[classSize:]
	}
	return n, p, nil
}

// check returns the fault of a tree that would lead examples astray or in a ring. Of a root that is a leaf,
// the other nodes are not used (cut).
func (t *tree) check() error {
	for i := range t.nodes {
		n := &t.nodes[i]
		if end := uint32(len(t.nodes)); n.parent >= end || n.left >= end || n.right >= end {
			return fmt.Errorf("node %d: a neighbour is none of the %d nodes", i, end)
		}
		if n.inner && n.learner >= uint32(t.used) {
			return fmt.Errorf("node %d: learner %d of %d", i, n.learner, t.used)
		}
	}
	root := &t.nodes[0]
	if root.parent != 0 && (root.inner || t.used < t.most) {
		return fmt.Errorf("the root has parent %d", root.parent)
	}
	seen := make([]bool, len(t.nodes))
	seen[0] = true
	for next := []uint32{0}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		n := &t.nodes[at]
		if !n.inner {
			continue
		}
		for _, child := range [2]uint32{n.left, n.right} {
			if seen[child] || t.nodes[child].parent != at {
				return fmt.Errorf("node %d: child %d has another parent, %d", at, child, t.nodes[child].parent)
			}
			seen[child] = true
			next = append(next, child)
		}
	}
	return nil
}

// StateUnit returns 1: the state has any number of words.
func (l *learner) StateUnit() int { return 1 }

// AppendState appends the bytes of the section, after their number.
func (l *learner) AppendState(dst []uint64) []uint64 {
	p := l.AppendSection(nil)
	dst = append(dst, uint64(len(p)))
	p = append(p, make([]byte, 7)...)
	for ; len(p) >= 8; p = p[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(p))
	}
	return dst
}

// SetState takes the tree of AppendState. Words of anything else leave the tree as it is.
func (l *learner) SetState(words []uint64) {
	if len(words) == 0 || words[0] > uint64(8*(len(words)-1)) {
		return
	}
	var p []byte
	for _, w := range words[1:] {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	if t, err := readTree(p[:words[0]], l.tree.most); err == nil {
		l.tree = t
	}
}
