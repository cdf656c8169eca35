// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The section of --log_multi is a tree:
//
//	u32 learners that it may have; u32 nodes; u64 learners that it may have; u64 learners that it has;
//	u8 progress; u32 resistance to swaps
//
// and of each node:
//
//	u32 parent; u32 classes; u32 examples of the emptiest leaf; u8 1 for an inner node
//	of an inner node: u32 learner; u32 left child; u32 right child; f32 mean and f64 sum of scores; u32 number of scores
//	of a leaf: u32 examples of the most frequent class; u32 its label
//	of each class: f64 sum and f32 mean of scores; u32 number of scores; u32 label; u32 examples
const (
	treeSize      = 4 + 4 + 8 + 8 + 1 + 4
	treeNodeSize  = 4 + 4 + 4 + 1
	treeInnerSize = 4 + 4 + 4 + 4 + 8 + 4
	treeLeafSize  = 4 + 4
	treeClassSize = 8 + 4 + 4 + 4 + 4
)

// tree reads the section of --log_multi.
func (d *Decoder) tree() error {
	le, at := binary.LittleEndian, d.offset
	head, err := d.more(treeSize)
	if err != nil {
		return err
	}
	nodes, most, used := le.Uint32(head[4:]), le.Uint64(head[8:]), le.Uint64(head[16:])
	if used > most || used > maxSection || uint64(nodes) != 2*used+1 {
		return fail(at, sectionField, ErrDamaged, "a tree of %d nodes and %d of %d learners, want one node more than twice the learners", nodes, used, most)
	}
	for range nodes {
		at := d.offset
		node, err := d.more(treeNodeSize)
		if err != nil {
			return err
		}
		classes, inner := le.Uint32(node[4:]), node[12]
		if inner > 1 {
			return fail(at, sectionField, ErrDamaged, "a node of kind %d, want 0 or 1", inner)
		}
		if classes > maxSection/treeClassSize {
			return fail(at, sectionField, ErrDamaged, "a node of %d classes, at most %d are allowed", classes, maxSection/treeClassSize)
		}
		size := treeLeafSize
		if inner == 1 {
			size = treeInnerSize
		}
		if _, err := d.more(size + int(classes)*treeClassSize); err != nil {
			return err
		}
	}
	return nil
}

// appendTreeText appends the section of --log_multi as vw prints it in readable models.
func appendTreeText(dst []byte, r *Regressor, float appender) []byte {
	le, p := binary.LittleEndian, r.Section
	// have reports whether p has as many bytes: a caller may have made the section.
	have := func(n int) bool { return len(p) >= n }
	if !have(treeSize) {
		return dst
	}
	number := func(name string, at int) { dst = fmt.Appendf(dst, "%s = %d", name, le.Uint32(p[at:])) }
	float32At := func(name string, at int) {
		dst = float(append(append(dst, name...), " = "...), float64(math.Float32frombits(le.Uint32(p[at:]))), 32)
	}
	float64At := func(name string, at int) {
		dst = float(append(append(dst, name...), " = "...), math.Float64frombits(le.Uint64(p[at:])), 64)
	}
	dst = fmt.Appendf(dst, "k = %s", r.Values("log_multi")[0])
	number("nodes", 4)
	number(" max predictors", 8)
	number(" predictors_used", 16)
	dst = fmt.Appendf(dst, " progress = %d", p[24])
	number(" swap_resist", 25)
	dst = append(dst, '\n')
	for p = p[treeSize:]; have(treeNodeSize + treeLeafSize); {
		number(" parent", 0)
		number(" preds", 4)
		number(" min_count", 8)
		dst = fmt.Appendf(dst, " internal = %d", p[12])
		classes := le.Uint32(p[4:])
		switch inner := p[12] != 0; {
		case inner && !have(treeNodeSize+treeInnerSize):
			return dst
		case inner:
			p = p[treeNodeSize:]
			number(" base_predictor", 0)
			number(" left", 4)
			number(" right", 8)
			float32At(" norm_Eh", 12)
			float64At(" Eh", 16)
			number(" n", 24)
			p = p[treeInnerSize:]
		default:
			p = p[treeNodeSize:]
			number(" max_count", 0)
			number(" max_count_label", 4)
			p = p[treeLeafSize:]
		}
		dst = append(dst, '\n')
		for ; classes > 0 && have(treeClassSize); classes, p = classes-1, p[treeClassSize:] {
			float64At("  Ehk", 0)
			float32At(" norm_Ehk", 8)
			number(" nk", 12)
			number(" label", 16)
			number(" label_count", 20)
			dst = append(dst, '\n')
		}
	}
	return dst
}
