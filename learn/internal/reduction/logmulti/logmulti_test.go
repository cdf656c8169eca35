// SPDX-License-Identifier: Apache-2.0

package logmulti

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/optim/sgd"
)

// made returns a learner of the options with 1,024 weights.
func made(t testing.TB, v reduction.Values) *learner {
	t.Helper()
	p, err := plan(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sgd.NewSlots(sgd.Config{Bits: 10, LearningRate: 0.5, PowerT: 0.5, Adaptive: true, Normalized: true}, l, p.Slots, p.Slots, 4)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.MakeClassifier(&reduction.Env{Base: s, Loss: l})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*learner)
}

// example returns a batch of one example with the given features.
func example(at ...uint32) *feature.Batch {
	b := &feature.Batch{Examples: []feature.Example{{Weight: 1, FeatHi: uint32(len(at))}}}
	for _, i := range at {
		b.Features = append(b.Features, feature.Feature{Index: i, Value: 1})
	}
	return b
}

func learn(l *learner, label int, at ...uint32) reduction.Choice {
	b := example(at...)
	b.Examples[0].Label = float32(label)
	return l.LearnClass(b, &b.Examples[0], &reduction.Target{Class: label - 1})
}

// walk calls f with each node below the root.
func walk(t *tree, at uint32, f func(n *node)) {
	n := &t.nodes[at]
	f(n)
	if n.inner {
		walk(t, n.left, f)
		walk(t, n.right, f)
	}
}

// Classes with features of their own get leaves of their own.
func TestEveryClassIsFound(t *testing.T) {
	const classes = 16
	l := made(t, reduction.Values{"log_multi": {"16"}})
	for i := range 4000 {
		k := i * 7 % classes
		learn(l, k+1, uint32(k), 100)
	}
	for k := range classes {
		b := example(uint32(k), 100)
		if c := l.PredictClass(b, &b.Examples[0], &reduction.Target{Class: k}); c.Class != k {
			t.Errorf("class %d is predicted as %d", k, c.Class)
		}
	}
	leaves := 0
	walk(l.tree, 0, func(n *node) {
		if !n.inner {
			leaves++
		}
	})
	if leaves != classes {
		t.Errorf("got %d leaves, want %d", leaves, classes)
	}
}

// A label may be larger than the number of classes, or 0, as in vw.
func TestOtherLabelsAreLearned(t *testing.T) {
	l := made(t, reduction.Values{"log_multi": {"2"}})
	for _, label := range []int{0, 70} {
		for range 3 {
			learn(l, label, uint32(label))
		}
	}
	if c := learn(l, 70, 70); c.Class != 69 {
		t.Errorf("got label %d, want 70", c.Class+1)
	}
}

// A tree of all its learners gives the emptiest leaf to a crowded one, keeps its shape, and ends each
// example at a leaf, also where the resistance overflows.
func TestSwapsKeepATree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := newTree(rapid.IntRange(0, 6).Draw(rt, "learners"), rapid.OneOf(rapid.Uint32Range(1, 3), rapid.Uint32()).Draw(rt, "resists"), true)
		for range rapid.IntRange(0, 300).Draw(rt, "examples") {
			label, way := rapid.Uint32Range(0, 5).Draw(rt, "label"), rapid.Uint64().Draw(rt, "way")
			at := uint32(0)
			steps := 0
			for ; ; steps++ {
				n, c := tr.visit(at, label)
				if c.label != label {
					rt.Fatalf("got the class of label %d, want %d", c.label, label)
				}
				if !n.inner {
					break
				}
				at = n.next(float32(way>>(steps%64)&1) - 0.5)
			}
			if tr.arrive(at); steps > 2*tr.most+1 {
				rt.Fatalf("%d steps to a leaf of a tree of %d learners", steps, tr.most)
			}
			if err := tr.check(); err != nil {
				rt.Fatal(err)
			}
			if len(tr.nodes) != 2*tr.used+1 || tr.used > tr.most {
				rt.Fatalf("%d nodes, %d of %d learners", len(tr.nodes), tr.used, tr.most)
			}
			walk(tr, 0, func(n *node) {
				if l, r := tr.nodes[n.left].least, tr.nodes[n.right].least; n.inner && n.least != min(l, r) {
					rt.Fatalf("a node has the least number %d, its children %d and %d", n.least, l, r)
				}
			})
		}
	})
}

// State and section carry a tree from one learner to another, and a section that is cut off or changed is
// an error or a tree.
func TestTreesAreKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := reduction.Values{"log_multi": {"4"}, "swap_resistance": {"1"}}
		l, to, loaded := made(t, v), made(t, v), made(t, reduction.Values{"log_multi": {"4"}, "no_progress": {"true"}})
		for range rapid.IntRange(0, 60).Draw(rt, "examples") {
			k := rapid.Uint32Range(1, 6).Draw(rt, "label")
			learn(l, int(k), k, rapid.Uint32Range(0, 20).Draw(rt, "feature"))
		}
		to.SetState(l.AppendState(nil))
		section := l.AppendSection(nil)
		if err := loaded.SetSection(section); err != nil {
			rt.Fatal(err)
		}
		for _, got := range []*learner{to, loaded} {
			if diff := cmp.Diff(section, got.AppendSection(nil)); diff != "" {
				rt.Errorf("(-want +got):\n%s", diff)
			}
		}
		if err := loaded.SetSection(section[:rapid.IntRange(0, len(section)-1).Draw(rt, "cut")]); err == nil {
			rt.Error("a section that is cut off is accepted")
		}
	})
}

// FuzzSetSection reads arbitrary bytes. With an accepted tree examples are learned, and its bytes come
// back.
func FuzzSetSection(f *testing.F) {
	l := made(f, reduction.Values{"log_multi": {"4"}, "swap_resistance": {"1"}})
	f.Add(l.AppendSection(nil))
	for i := range 200 {
		learn(l, 1+i*i%5, uint32(i*i%5), uint32(i%3))
	}
	f.Add(l.AppendSection(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		l := made(t, reduction.Values{"log_multi": {"4"}})
		if err := l.SetSection(p); err != nil {
			return
		}
		if again := made(t, reduction.Values{"log_multi": {"4"}}); again.SetSection(l.AppendSection(nil)) != nil || !bytes.Equal(again.AppendSection(nil), l.AppendSection(nil)) {
			t.Fatal("written by us, not readable by us")
		}
		for i := range 50 {
			learn(l, i%7, uint32(i%7), uint32(i%4))
		}
		if err := l.tree.check(); err != nil {
			t.Fatalf("after 50 examples: %v", err)
		}
	})
}

// Each fault of a tree is an error that names it.
func TestFaultsOfTrees(t *testing.T) {
	l := made(t, reduction.Values{"log_multi": {"3"}})
	for i := range 20 {
		learn(l, 1+i%3, uint32(i%3))
	}
	good := l.AppendSection(nil)
	le := binary.LittleEndian
	const node = headSize // of the root
	for name, c := range map[string]struct {
		change func(p []byte)
		want   string
	}{
		"another size":       {func(p []byte) { le.PutUint64(p[8:], 7) }, "it may have 7 learners, want 2"},
		"many learners":      {func(p []byte) { le.PutUint64(p[16:], math.MaxUint64) }, "learners of 2"},
		"nodes":              {func(p []byte) { le.PutUint32(p[4:], math.MaxUint32) }, "4294967295 nodes"},
		"classes":            {func(p []byte) { le.PutUint32(p[node+4:], math.MaxUint32) }, "node 0: it has 4294967295 classes"},
		"learner":            {func(p []byte) { le.PutUint32(p[node+nodeSize:], 2) }, "node 0: learner 2 of 2"},
		"child":              {func(p []byte) { le.PutUint32(p[node+nodeSize+4:], 5) }, "node 0: a neighbour is none of the 5 nodes"},
		"ring":               {func(p []byte) { le.PutUint32(p[node+nodeSize+4:], 0) }, "node 0: child 0"},
		"twice":              {func(p []byte) { le.PutUint32(p[node+nodeSize+4:], 2) }, "node 0: child 2"},
		"parent of the root": {func(p []byte) { le.PutUint32(p[node:], 1) }, "the root has parent 1"},
		"labels":             {func(p []byte) { le.PutUint32(p[node+nodeSize+innerSize+classSize+16:], 0) }, "label 0 follows label 1"},
	} {
		p := bytes.Clone(good)
		c.change(p)
		if err := l.SetSection(p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
	}
	if err := l.SetSection(append(bytes.Clone(good), 0)); err == nil || !strings.Contains(err.Error(), "1 bytes follow its nodes") {
		t.Errorf("a byte more: got error %v", err)
	}
	if got := l.AppendSection(nil); !bytes.Equal(got, good) {
		t.Error("an error has changed the tree")
	}
	if l.SetState([]uint64{math.MaxUint64, 1}); !bytes.Equal(l.AppendSection(nil), good) {
		t.Error("damaged words have changed the tree")
	}
}

// Faults of options are reported at once.
func TestFaultsOfOptions(t *testing.T) {
	_, err := plan(reduction.Values{"log_multi": {"0"}, "swap_resistance": {"0"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"log_multi: 0: want a whole number from 1 to 65536", "swap_resistance: 0: want a whole number from 1 to"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
}
