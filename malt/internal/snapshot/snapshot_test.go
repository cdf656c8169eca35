// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var objects = []Object{
	{ID: 0, Description: []byte("name=w"), Iteration: 17, State: bytes.Repeat([]byte{1, 2, 3}, 100)},
	{ID: 3, Description: []byte("name=notes"), Iteration: 1 << 40},
}

func TestSnapshotsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var want []Object
		for range rapid.IntRange(0, 4).Draw(rt, "objects") {
			want = append(want, Object{
				ID: rapid.Uint32().Draw(rt, "id"), Iteration: rapid.Uint64().Draw(rt, "iteration"),
				Description: rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(rt, "description"),
				State:       rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "state"),
			})
		}
		var b bytes.Buffer
		if err := Write(&b, want); err != nil {
			rt.Fatal(err)
		}
		b.WriteString("rest")
		got, err := Read(&b)
		if err != nil || b.String() != "rest" {
			rt.Fatalf("error %v, %q left", err, b.String())
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("(-want +got):\n%s", d)
		}
	})
}

// TestDamageIsFound changes each byte of a snapshot, and cuts it at each place.
func TestDamageIsFound(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, objects); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for i := range whole {
		if _, err := Read(bytes.NewReader(whole[:i])); err == nil {
			t.Errorf("%d of %d bytes are a snapshot", i, len(whole))
		}
		changed := bytes.Clone(whole)
		changed[i] ^= 4
		got, err := Read(bytes.NewReader(changed))
		if err == nil && len(got) == len(objects) {
			t.Errorf("a change of byte %d is not noticed", i)
		}
	}
}

func TestLimits(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, []Object{{Description: make([]byte, MaxDescription+1)}}); err == nil {
		t.Error("a description above the limit was written")
	}
	if err := Write(&b, make([]Object, MaxObjects+1)); err == nil {
		t.Error("objects above the limit were written")
	}
}

// FuzzRead reads any bytes. Write writes a snapshot that was read as the same bytes.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, objects); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(magic + "\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		got, err := Read(r)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, got); err != nil || !bytes.Equal(b.Bytes(), in[:len(in)-r.Len()]) {
			t.Errorf("% x became % x, error %v", in, b.Bytes(), err)
		}
	})
}
