// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestRoundTrip: Read returns what Write has written, for any header, rule and layout of
// weights.
func TestRoundTrip(t *testing.T) {
	options := []Option{
		{"adaptive", ""},
		{"binary", ""},
		FloatOption("learning_rate", 0.3),
		{"link", "logistic"},
		{"noconstant", ""},
		{"normalized", ""},
		{"quadratic", "ab"},
		{"quadratic", "aa"},
		{"sgd", ""},
		{"ignore", "c"},
		{"keep", "ab"},
	}
	rapid.Check(t, func(t *rapid.T) {
		short := rapid.StringMatching(`[a-z]?[1-9]`)
		r := &Regressor{Header: Header{
			ID:       rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "id"),
			MinLabel: rapid.Float32().Draw(t, "min"),
			MaxLabel: rapid.Float32().Draw(t, "max"),
			Bits:     uint(rapid.IntRange(1, 8).Draw(t, "bits")),
			NGrams:   rapid.SliceOfN(short, 0, 3).Draw(t, "ngrams"),
			Skips:    rapid.SliceOfN(short, 0, 3).Draw(t, "skips"),
		}}
		for _, o := range options {
			if rapid.Bool().Draw(t, o.Name) {
				r.Options = append(r.Options, o)
			}
		}
		floats := 1
		if rapid.Bool().Draw(t, "resume") {
			floats = r.floats()
			r.Resume = &Resume{
				InitialT: rapid.Float32().Draw(t, "initial t"), T: rapid.Float64().Draw(t, "t"),
				ExampleNumber: rapid.Uint64().Draw(t, "examples"), Contraction: rapid.Float64().Draw(t, "contraction"),
			}
		}
		stride := rapid.IntRange(floats, 4).Draw(t, "stride")
		slots := rapid.Permutation([]int{0, 1, 2, 3}[:stride]).Draw(t, "slots")[:floats]
		r.Weights = View{Data: make([]float32, stride<<r.Bits), Stride: stride, Slots: slots}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(r.Weights.Data)-1), 0, 40).Draw(t, "set") {
			r.Weights.Data[i] = rapid.Float32().Draw(t, "weight")
		}

		var b bytes.Buffer
		if err := Write(&b, r); err != nil {
			t.Fatal(err)
		}
		d, err := NewDecoder(&b, Limits{Bits: 8})
		if err != nil {
			t.Fatal(err)
		}
		got := View{Data: make([]float32, len(r.Weights.Data)), Stride: stride, Slots: slots}
		if _, err := d.Weights(got); err != nil {
			t.Fatal(err)
		}
		want := make([]float32, len(got.Data)) // floats outside the slots are not kept
		for i := 0; i < len(want); i += stride {
			for _, s := range slots {
				want[i+s] = r.Weights.Data[i+s]
			}
		}
		r.Version = Version
		nothing := cmpopts.EquateEmpty()
		if diff := cmp.Diff(r.Header, d.Header, nothing) + cmp.Diff(r.Resume, d.Resume) + cmp.Diff(want, got.Data); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

// TestPartialViews: a reader reads only as many floats as it has slots for, and does not change
// the rest of its array.
func TestPartialViews(t *testing.T) {
	b := encoded(t, sample(true))
	for _, tc := range []struct {
		view View
		want []float32 // the result of weight 1, whose floats are 3.5 4.5 5.5
	}{
		{View{Stride: 1}, []float32{3.5}},
		{View{Stride: 2, Slots: []int{1}}, []float32{9, 3.5}},
		{View{Stride: 4, Slots: []int{0, 2}}, []float32{3.5, 9, 4.5, 9}},
		{View{Stride: 4, Slots: []int{0, 1, 2, 3}}, []float32{3.5, 4.5, 5.5, 9}},
	} {
		d, err := NewDecoder(bytes.NewReader(b), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		v := tc.view
		v.Data = make([]float32, v.Stride<<3)
		for i := range v.Data {
			v.Data[i] = 9
		}
		n, err := d.Weights(v)
		if err != nil || n != 3 {
			t.Errorf("%v: %d weights, %v; want 3", tc.view, n, err)
		}
		if diff := cmp.Diff(tc.want, v.Data[v.Stride:2*v.Stride]); diff != "" {
			t.Errorf("%v (-want +got)\n%s", tc.view, diff)
		}
		if _, err := d.Weights(v); err == nil {
			t.Error("the weights were read twice")
		}
	}
	d, _ := NewDecoder(bytes.NewReader(b), Limits{})
	if _, err := d.Weights(View{Data: make([]float32, 4)}); err == nil || !strings.Contains(err.Error(), "does not hold 2^3") {
		t.Errorf("got %v", err)
	}
	d.Floats = 9
	if _, err := d.Weights(View{Data: make([]float32, 8)}); err == nil || !strings.Contains(err.Error(), "9 floats per weight") {
		t.Errorf("got %v", err)
	}
}

// TestOldResume: fields that an old version lacks get neutral values.
func TestOldResume(t *testing.T) {
	le := func(n int) []byte { return make([]byte, n) }
	file := appendText(nil, "7.10.0")
	file = append(file, 'm')
	file = append(file, le(8)...)                                           // labels
	file = append(file, 2, 0, 0, 0)                                         // bits
	file = append(file, 1, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 'a', 'b', 'c')    // pairs, triples
	file = append(file, le(12)...)                                          // lda, n-grams, skips
	file = appendText(file, "--hash_seed=3 --redefine a:=b c:=d")           // options
	file = append(append(file, 1), le(4+8*4+4*3+8*5)...)                    // resume
	file = append(file, 3, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 0) // weight 3: 1 2 0
	r, err := Read(bytes.NewReader(file), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Resume{Contraction: 1}, r.Resume); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0}, r.Weights.Data); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ab"}, r.Values("quadratic")) + cmp.Diff([]string{"a:=b", "c:=d"}, r.Values("redefine")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v, ok := r.Float("hash_seed"); v != 3 || !ok {
		t.Errorf("hash_seed %v, %v", v, ok)
	}
	if _, ok := r.Float("cubic"); ok {
		t.Error("abc passed for a number")
	}
	if _, ok := r.Float("nothing"); ok {
		t.Error("an option that is not kept has a value")
	}
}

// TestVersion8 reads the layout of 8.0.3 to 8.11: that of 9 without the last
// two numbers of the resume block.
func TestVersion8(t *testing.T) {
	want := sample(true)
	want.Resume.CurrentPass = 3
	file := encoded(t, want)
	d, err := NewDecoder(bytes.NewReader(file), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	file = bytes.Replace(file, []byte(Version), []byte("8.11.0"), 1)
	file = append(file[:d.offset-16], file[d.offset:]...)
	got, err := Read(bytes.NewReader(file), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want.Version = "8.11.0"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestReadableFloats(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -50: "-50", 0.0001: "0.0001", 0.00001: "1e-05", 123456: "123456", 1234567: "1.23457e+06",
		1e10: "1e+10", 0.333333333: "0.333333", 1e-300: "1e-300", 100000: "100000", 999999.5: "1e+06",
		math.Inf(1): "inf", math.Inf(-1): "-inf",
	} {
		if got := string(AppendFloat(nil, v)); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
	if got := string(AppendFloat(AppendFloat(nil, math.Copysign(math.NaN(), 1)), math.Copysign(math.NaN(), -1))); got != "nan-nan" {
		t.Errorf("NaN of both signs: got %q", got)
	}
}

func TestDigest(t *testing.T) {
	r := sample(true)
	var b bytes.Buffer
	d, err := WriteDigest(&b, r)
	if err != nil || !bytes.Equal(b.Bytes(), encoded(t, r)) {
		t.Fatalf("not what Write writes (%v)", err)
	}
	again, _ := WriteDigest(io.Discard, sample(true))
	r.Weights.Data[0]++
	other, _ := WriteDigest(io.Discard, r)
	if d != again || d == other || len(d.String()) != 64 {
		t.Errorf("digests %v %v %v", d, again, other)
	}
}

func benchModel() *Regressor {
	r := &Regressor{
		Header:  Header{Bits: 18},
		Resume:  &Resume{},
		Weights: View{Data: make([]float32, 4<<18), Stride: 4, Slots: []int{0, 1, 2}},
	}
	for i := range r.Weights.Data {
		r.Weights.Data[i] = float32(i)
	}
	return r
}

func BenchmarkWrite(b *testing.B) {
	r := benchModel()
	b.SetBytes(16 << 18)
	for b.Loop() {
		if err := Write(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r := benchModel()
	file := encoded(b, r)
	b.SetBytes(16 << 18)
	for b.Loop() {
		d, err := NewDecoder(bytes.NewReader(file), Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Weights(r.Weights); err != nil {
			b.Fatal(err)
		}
	}
}
