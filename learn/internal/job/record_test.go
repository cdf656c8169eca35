// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/vwtext"
	"github.com/gvw-project/gvw/loss"
)

func drawRecord(t *rapid.T) Record {
	f := rapid.Float64Range(-1e12, 1e12)
	g := rapid.Float32Range(-1e6, 1e6)
	n := rapid.Uint64()
	return Record{
		Stats: vwtext.Stats{
			Examples: n.Draw(t, "examples"), Features: n.Draw(t, "features"),
			Labeled: f.Draw(t, "labeled"), Unlabeled: f.Draw(t, "unlabeled"), Labels: f.Draw(t, "labels"),
			Loss: f.Draw(t, "loss"), T: f.Draw(t, "t"),
			Holdout: vwtext.Holdout{Weight: f.Draw(t, "hw"), Loss: f.Draw(t, "hl"), PassWeight: f.Draw(t, "pw"), PassLoss: f.Draw(t, "pl")},
			Seen:    vwtext.Labels{First: g.Draw(t, "first"), Second: g.Draw(t, "second"), More: rapid.Bool().Draw(t, "more")},
		},
		Nsx: f.Draw(t, "nsx"), TotalWeight: f.Draw(t, "tw"),
		Range: loss.Range{Min: g.Draw(t, "min"), Max: g.Draw(t, "max")},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecord(t)
		b := want.appendTo(nil)
		if len(b) != RecordSize {
			t.Fatalf("got %d bytes, want %d", len(b), RecordSize)
		}
		var got Record
		rest, err := got.Decode(0, append(b, 7, 8))
		if err != nil || len(rest) != 2 {
			t.Fatalf("%d bytes are left, error %v; want 2", len(rest), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("record (-want +got):\n%s", diff)
		}
	})
}

func TestRecordOfAnotherVersion(t *testing.T) {
	var r Record
	b := r.appendTo(nil)
	if _, err := r.Decode(3, b[:len(b)-1]); err == nil {
		t.Error("a short record was accepted")
	}
	b[0]++
	if _, err := r.Decode(3, b); err == nil {
		t.Error("a record of another version was accepted")
	}
}

func FuzzRecord(f *testing.F) {
	var r Record
	f.Add(r.appendTo(nil))
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Record
		rest, err := r.Decode(0, b)
		if err != nil {
			return
		}
		if diff := cmp.Diff(b[8:len(b)-len(rest)], r.appendTo(nil)[8:]); diff != "" {
			t.Errorf("decode and append (-want +got):\n%s", diff)
		}
	})
}

// The order of the ranks decides which labels are the first two.
func TestLabelsMerge(t *testing.T) {
	none := vwtext.NewStats().Seen
	a, b := none, none
	a.See(1)
	b.See(-1)
	b.See(1)
	got := none
	got.Merge(a)
	got.Merge(b)
	if want := (vwtext.Labels{First: 1, Second: -1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.See(2)
	got.Merge(b)
	if !got.More {
		t.Error("a third label went unnoticed")
	}
	got = none
	got.Merge(none)
	if got != (vwtext.Labels{First: feature.NoLabel, Second: feature.NoLabel}) {
		t.Errorf("nothing seen became %+v", got)
	}
}
