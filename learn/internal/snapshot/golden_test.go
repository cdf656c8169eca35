// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"encoding/hex"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The bytes of a snapshot are those of earlier releases, and are read back.
func TestSnapshotBytes(t *testing.T) {
	p := Snapshot{Phase: 1, Steps: 258, Small: []byte("small"), Arrays: []Array{{Name: "a", V: []float32{1, -2}}, {Name: "b"}}}
	var b bytes.Buffer
	if err := p.Write(&b, StateMark); err != nil {
		t.Fatal(err)
	}
	const want = "6776775303000000010000000200000002010000000000000500000000000000736d616c6c02000000000000000000803f000000c00000000000000000"
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("snapshot: got and want\n%s\n%s", got, want)
	}
	got, arrays, err := Read(&b, StateMark)
	if err != nil || arrays != 2 || got.Phase != 1 || got.Steps != 258 || string(got.Small) != "small" {
		t.Fatalf("%+v with %d arrays, %v", got, arrays, err)
	}
	back := []Array{{Name: "a", V: make([]float32, 2)}, {Name: "b"}}
	if err := ReadArrays(&b, back, arrays); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.Arrays[0].V, back[0].V); d != "" {
		t.Errorf("an array, -written +read:\n%s", d)
	}
}

// FuzzRead checks that any bytes are read or refused without a panic, and that what is read is
// written to the same bytes.
func FuzzRead(f *testing.F) {
	p := Snapshot{Steps: 3, Small: []byte("small"), Arrays: []Array{{V: []float32{1}}}}
	var b bytes.Buffer
	if err := p.Write(&b, ResultsMark); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:HeadSize+2])
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		got, arrays, err := Read(in, ResultsMark)
		if err != nil || arrays > 100 {
			return
		}
		got.Arrays = make([]Array, arrays)
		var again bytes.Buffer
		if err := got.Write(&again, ResultsMark); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(in)
		if n := len(b) - len(rest); !bytes.Equal(again.Bytes()[:n], b[:n]) {
			t.Errorf("% x became % x", b[:n], again.Bytes()[:n])
		}
	})
}

// The bytes of coded values are those of earlier releases: every number has 8 bytes. A reader that
// is given fewer bytes fails, and sets the other values to zero.
func TestCoderBytes(t *testing.T) {
	type values struct {
		Number int
		Flag   bool
		F64    float64
		F32    float32
		F64s   [2]float64
		Blob   []byte
		Text   string
	}
	code := func(c *Coder, v *values) {
		c.Number("number", &v.Number, 300)
		c.Flag("flag", &v.Flag)
		c.F64("f64", &v.F64)
		c.F32("f32", &v.F32)
		c.F64s("f64s", v.F64s[:])
		c.Blob("blob", &v.Blob, 9)
		c.Text("text", &v.Text, 9)
	}
	v := values{258, true, -2.5, 1.5, [2]float64{1, 2}, []byte("ab"), "c"}
	w := Encode(nil)
	code(&w, &v)
	const want = "0201000000000000" + "0100000000000000" + "00000000000004c0" + "0000c03f00000000" +
		"0200000000000000" + "000000000000f03f" + "0000000000000040" + "0200000000000000" + "6162" + "0100000000000000" + "63"
	if got := hex.EncodeToString(w.Bytes()); got != want || w.Err() != nil {
		t.Errorf("%v: got and want\n%s\n%s", w.Err(), got, want)
	}
	for n := range len(w.Bytes()) + 2 {
		r := Decode(append(bytes.Clone(w.Bytes()), 0)[:n])
		var got values
		code(&r, &got)
		err := r.End("it")
		if (err == nil) != (n == len(w.Bytes())) || !r.Reading() {
			t.Errorf("%d bytes of %d: %v", n, len(w.Bytes()), err)
		}
		if d := cmp.Diff(v, got); err == nil && d != "" {
			t.Errorf("-written +read:\n%s", d)
		}
	}
}
