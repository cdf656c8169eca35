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
	const want = "6776775302000000010000000200000002010000000000000500000000000000736d616c6c02000000000000000000803f000000c00000000000000000"
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
