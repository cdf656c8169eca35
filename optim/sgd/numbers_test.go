// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/loss"
)

// Weights get the numbers from 1 in the order of their first occurrence, whatever their indices are, and features
// without an entry get 0.
func TestNumbersFollowFirstOccurrences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.OneOf(
			rapid.Uint32(), rapid.Uint32Range(0, 50), rapid.Uint32Range(1<<32-5000, 1<<32-1),
			rapid.Map(rapid.Uint32Range(0, 1<<12), func(i uint32) uint32 { return i << 20 }),
		)
		n, want := newNumbers(18), map[uint32]uint32{}
		batches := rapid.SliceOfN(rapid.SliceOfN(index, 0, 400), 0, 6).Draw(t, "batches")
		var src, got, expected []feature.Feature
		for i, batch := range batches {
			adds := i%3 != 2
			src, expected = src[:0], expected[:0]
			for k, at := range batch {
				src = append(src, feature.Feature{Index: at, Value: float32(k)})
				if want[at] == 0 && adds {
					want[at] = uint32(len(want) + 1)
				}
				expected = append(expected, feature.Feature{Index: want[at], Value: float32(k)})
			}
			got = append(got[:0], src...)
			n.translate(got, got, adds) // in place
			if d := cmp.Diff(expected, got); d != "" {
				t.Fatalf("batch %d (-want +got):\n%s", i, d)
			}
			if adds {
				n.restore()(got)
				if d := cmp.Diff(src, got); d != "" {
					t.Fatalf("batch %d, restored (-want +got):\n%s", i, d)
				}
			}
		}
		all := map[uint32]uint32{}
		for at, k := range n.all() {
			all[at] = uint32(k)
		}
		for at := range want {
			if want[at] == 0 {
				delete(want, at)
			}
		}
		if d := cmp.Diff(want, all); d != "" {
			t.Errorf("all numbers (-want +got):\n%s", d)
		}
	})
}

// The table grows beyond the memory that is reserved at first, and stays at most three quarters full.
func TestNumbersGrow(t *testing.T) {
	n := &numbers{slots: make([]uint64, 16, 32)}
	const weights = 100_000
	for i := range uint32(weights) {
		if k := n.add(i * 40_503); k != i+1 {
			t.Fatalf("weight %d has number %d, want %d", i, k, i+1)
		}
		if len(n.slots) > 16 && (4*n.count > 3*len(n.slots) || 2*n.count < len(n.slots)-2*bucket && n.count > 16) {
			t.Fatalf("%d weights in %d slots", n.count, len(n.slots))
		}
	}
	for i := range uint32(weights) {
		if k := numberOf(n, i*40_503); k != i+1 {
			t.Fatalf("weight %d has number %d at the end, want %d", i, k, i+1)
		}
	}
	away := 0
	for i, s := range n.slots {
		if s != 0 && home(uint32(s>>32), len(n.slots)/bucket) != i/bucket {
			away++
		}
	}
	if away > weights/10 {
		t.Errorf("%d of %d weights are not in their home buckets, want at most a tenth", away, weights)
	}
	if k := numberOf(n, 1); k != 0 {
		t.Errorf("a weight that has not occurred has number %d, want 0", k)
	}
}

// FuzzBuckets: the loop of the processor leaves the table, and the features before the one where it stops, as the loop in
// Go does. That also holds for full buckets and for a table that has to grow.
func FuzzBuckets(f *testing.F) {
	for _, adds := range []bool{false, true} {
		f.Add(uint64(1), uint16(40), uint8(10), adds)   // few weights, and each of them often
		f.Add(uint64(2), uint16(1000), uint8(28), adds) // more weights than there is room for
		f.Add(uint64(3), uint16(700), uint8(32), adds)
		f.Add(uint64(4), uint16(1), uint8(0), adds)
	}
	f.Fuzz(func(t *testing.T, seed uint64, features uint16, bits uint8, adds bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		src := make([]feature.Feature, 1+int(features)%2000)
		for i := range src {
			src[i] = feature.Feature{Index: rng.Uint32() >> (32 - bits%33), Value: rng.Float32()}
		}
		one, other := newNumbers(8), newNumbers(8)
		for range rng.IntN(one.room()) { // without adds, features find these
			index := src[rng.IntN(len(src))].Index
			one.add(index)
			other.add(index)
		}
		for len(src) > 0 {
			got, want := make([]feature.Feature, len(src)), make([]feature.Feature, len(src))
			done, expected := one.translateSome(got, src, adds), other.translateEach(want, src, adds)
			if done != expected || one.count != other.count {
				t.Fatalf("%d features done and %d weights, want %d and %d", done, one.count, expected, other.count)
			}
			if !slices.Equal(got[:done], want[:done]) || !slices.Equal(one.slots, other.slots) {
				t.Fatalf("other numbers or slots after %d features", done)
			}
			if src = src[done:]; len(src) > 0 && rng.IntN(4) == 0 {
				one.grow()
				other.grow()
			} else if len(src) > 0 {
				src = src[1:] // later features find weights in a table without room
			}
		}
	})
}

// newCompact returns a compact learner of 2^bits weights.
func newCompact(t *testing.T, bits uint) *Learner {
	t.Helper()
	l, err := loss.New("logistic")
	if err != nil {
		t.Fatal(err)
	}
	lr, err := NewCompact(Flags{Bits: bits}.Config(), l)
	if err != nil {
		t.Fatal(err)
	}
	return lr
}

// A compact learner has the predictions, the weights and the scalars of one by indices, under all rules.
func TestCompactLearnsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Flags{
			Bits: 10, Adaptive: rapid.Bool().Draw(t, "adaptive"), Normalized: rapid.Bool().Draw(t, "normalized"), Invariant: rapid.Bool().Draw(t, "invariant"),
			L1: rapid.SampledFrom([]float64{0, 1e-3}).Draw(t, "l1"), L2: rapid.SampledFrom([]float64{0, 1e-3}).Draw(t, "l2"),
			SparseL2: rapid.SampledFrom([]float32{0, 1e-3}).Draw(t, "sparse l2"),
		}.Config()
		logistic, err := loss.New("logistic")
		if err != nil {
			t.Fatal(err)
		}
		wide, err := New(cfg, logistic)
		if err != nil {
			t.Fatal(err)
		}
		dense, err := NewCompact(cfg, logistic)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "grows") {
			dense.t.use(make([]float32, dense.Stride()))
		}
		feat := rapid.Custom(func(t *rapid.T) feature.Feature {
			return feature.Feature{Index: rapid.Uint32Range(0, 1<<10-1).Draw(t, "index"), Value: rapid.Float32Range(-3, 3).Draw(t, "value")}
		})
		for range rapid.IntRange(1, 30).Draw(t, "examples") {
			fs := rapid.SliceOfN(feat, 0, 12).Draw(t, "features")
			own := make([]feature.Feature, len(fs))
			ex := &feature.Example{Label: rapid.SampledFrom([]float32{-1, 1}).Draw(t, "label"), Weight: 1}
			if rapid.Bool().Draw(t, "learns") {
				dense.Number(own, fs, true)
				raw, clipped, loss := wide.Learn(fs, ex)
				raw2, clipped2, loss2 := dense.Learn(own, ex)
				if !alike(raw, raw2) || !alike(clipped, clipped2) || !alike(loss, loss2) {
					t.Fatalf("compact: %v %v %v, want %v %v %v", raw2, clipped2, loss2, raw, clipped, loss)
				}
				continue
			}
			dense.Number(own, fs, false)
			raw, _ := wide.Predict(fs, 0)
			if got, _ := dense.Predict(own, 0); !alike(got, raw) {
				t.Fatalf("compact: prediction %v, want %v", got, raw)
			}
		}
		wide.Materialize()
		dense.Materialize()
		if wide.Scalars() != dense.Scalars() {
			t.Errorf("compact: scalars %+v, want %+v", dense.Scalars(), wide.Scalars())
		}
		all := make([]float32, len(wide.Weights()))
		for index, k := range dense.All() {
			copy(all[int(index)*dense.Stride():][:dense.Stride()], dense.Weights()[k*dense.Stride():])
		}
		for i, v := range wide.Weights() {
			if !alike(v, all[i]) {
				t.Errorf("compact: float %d is %v, want %v", i, all[i], v)
			}
		}
	})
}

// All weights of a table can occur, and weights of an earlier state replace those of now.
func TestCompactUsesEarlierWeights(t *testing.T) {
	l := newCompact(t, 4)
	stride := l.Stride()
	for i := range uint32(5) {
		l.Weight(15 - i)[0] = float32(i + 1)
	}
	early := append([]float32(nil), l.Weights()...)
	for i := range uint32(16) {
		l.Weight(i)[0] += 100
	}
	if got := len(l.Weights()); got != 17*stride {
		t.Fatalf("%d floats of weights, want those of the 16 weights and of number 0: %d", got, 17*stride)
	}
	l.Use(early)
	for i := range uint32(16) {
		want := float32(0)
		if i > 10 {
			want = float32(16 - i)
		}
		if got := l.Weight(i)[0]; got != want {
			t.Errorf("weight %d is %v, want %v", i, got, want)
		}
	}
}

// Learning by numbers allocates nothing, once the weights have numbers.
func TestCompactAllocatesNothing(t *testing.T) {
	l := newCompact(t, 18)
	fs, own := make([]feature.Feature, 100), make([]feature.Feature, 100)
	for i := range fs {
		fs[i] = feature.Feature{Index: uint32(i * 1000), Value: 1}
	}
	ex := &feature.Example{Label: 1, Weight: 1}
	if n := testing.AllocsPerRun(100, func() {
		l.Number(own, fs, true)
		l.Learn(own, ex)
	}); n != 0 {
		t.Errorf("%v allocations an example, want 0", n)
	}
}

// numberOf returns the number of a weight.
func numberOf(n *numbers, index uint32) uint32 { return uint32(*n.find(index)) }
