// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
)

// table is a learner with weights and their adaptive sums.
type table []float32

func (w table) Weights() []float32  { return w }
func (w table) Stride() int         { return 2 }
func (w table) At(i uint32) float32 { return w[2*i] }

// bits is log2 of the number of weights.
const bits = 10

// parse returns the examples of a text, with names.
func parse(t interface{ Fatal(...any) }, text string) *feature.Batch {
	p, err := feature.NewParser(feature.Config{Bits: bits, Names: true})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for line := range strings.Lines(text) {
		if err := p.AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

// The line of an example has its prediction and tag, then its features by the size of their part
// in the prediction.
func TestAuditTranscript(t *testing.T) {
	b := parse(t, "1 'tag|n a:2 b |m a:0.5\n")
	w := make(table, 2<<bits)
	for k, f := range b.Features {
		w[2*f.Index], w[2*f.Index+1] = []float32{0.25, -4, 2, 0.125}[k], float32(k)
	}
	for _, sums := range []bool{false, true} {
		var out bytes.Buffer
		a := NewAudit(&out, true, sums)
		a.Look(b, &b.Examples[0], w)
		if err := a.Show(-2.375, b.TagOf(&b.Examples[0])); err != nil || out.Len() > 0 {
			t.Fatalf("%d bytes before Flush, error %v", out.Len(), err)
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		// b: |-4|, a of m: |2·0.5|, a of n: |0.25·2|, the constant: |0.125|
		want := "-2.375000 tag\n"
		for _, k := range []int{1, 2, 0, 3} {
			i := b.Features[k].Index
			name, value := []string{"n^a", "n^b", "m^a", "Constant"}[k], []string{"2", "1", "0.5", "1"}[k]
			want += "\t" + name + ":" + strconv.Itoa(int(i)) + ":" + value + ":" + strconv.FormatFloat(float64(w[2*i]), 'g', -1, 32)
			if sums {
				want += "@" + strconv.Itoa(k)
			}
		}
		if got := out.String(); got != want+"\n" {
			t.Errorf("got  %q\nwant %q", got, want+"\n")
		}
		if name, known := a.Name(b.Features[1].Index); name != "n^b" || !known {
			t.Errorf("the name of b is %q, known %v", name, known)
		}
		if _, known := a.Name(1 << 20); known {
			t.Error("a weight of no feature has a name")
		}
	}
}

// The features of a line are sorted by |weight·value|, and those of the same size keep the order
// of the example.
func TestAuditOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "features")
		text := "1 |"
		for k := range n {
			text += " f" + strconv.Itoa(k)
		}
		b := parse(t, text+"\n")
		w := make(table, 2<<bits)
		for _, f := range b.Features {
			w[2*f.Index] = float32(rapid.IntRange(-2, 2).Draw(t, "weight"))
		}
		var out bytes.Buffer
		a := NewAudit(&out, false, false)
		a.Look(b, &b.Examples[0], w)
		if err := a.Show(0, nil); err != nil {
			t.Fatal(err)
		}
		if err := a.Flush(); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\t")[1:]
		type item struct {
			text string
			size float64
		}
		var want []item
		for i, f := range b.Features {
			at := w[2*f.Index]
			want = append(want, item{string(b.NameOf(i)) + ":" + strconv.Itoa(int(f.Index)) + ":1:" + strconv.Itoa(int(at)), math.Abs(float64(at))})
		}
		slices.SortStableFunc(want, func(x, y item) int { return int(y.size - x.size) })
		for i, item := range want {
			if got[i] != item.text {
				t.Fatalf("feature %d is %s, want %s, of %q", i, got[i], item.text, got)
			}
		}
	})
}

// Without --audit and --invert_hash there is no Audit, and its methods do nothing.
func TestNoAudit(t *testing.T) {
	var a *Audit
	a.Look(nil, nil, nil)
	if err := a.Classes(nil, nil, nil, nil); err != nil {
		t.Error(err)
	}
	if err := a.Show(0, nil); err != nil {
		t.Error(err)
	}
	if err := a.Flush(); err != nil {
		t.Error(err)
	}
}
