// SPDX-License-Identifier: Apache-2.0

package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// A row with every kind of cell with several values; ␟ is csv.Mark.
const (
	severalHeader = `_label,tags,ns|,ns|score,map|`
	severalRow    = `1,"␟w␟a, b␟say ""x""␟a","␟n␟1␟␟3","␟n␟0.5␟-1␟","␟e␟k␟2␟7␟tred␟z␟0"`
)

func several(text string) []byte {
	return []byte(strings.ReplaceAll(text, "␟", string(rune(csv.Mark))))
}

func TestCellsWithSeveralValues(t *testing.T) {
	cfg := feature.Config{Bits: 18, Names: true}
	p := parser(t, cfg, csv.Config{Several: true, NamespaceValues: "ns:2,map:10"})
	var b feature.Batch
	if err := p.Header(&b, []byte(severalHeader)); err != nil {
		t.Fatal(err)
	}
	if err := p.AppendLine(&b, several(severalRow), 2); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, f := range b.Features {
		got = append(got, fmt.Sprintf("%s=%g", b.NameOf(i), f.Value))
	}
	want := []string{"tags^a, b=1", `tags^say "x"=1`, "tags^a=1", "ns^=2", "ns^=6", "ns^score_0=1", "ns^score_1=-2", "map^k=20", "map^7^red=1", "Constant=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	ns := parser(t, cfg, csv.Config{}) // columns of single values have the same hashes
	var single feature.Batch
	if err := ns.Header(&single, []byte("_label,tags,ns|score_1,map|7,map|k")); err != nil {
		t.Fatal(err)
	}
	if err := ns.AppendLine(&single, []byte(`1,"a, b",-1,"red",2`), 2); err != nil {
		t.Fatal(err)
	}
	for i, k := range []int{0, 6, 8, 7} {
		if single.Features[i].Index != b.Features[k].Index {
			t.Errorf("%s has index %d, %s has %d", single.NameOf(i), single.Features[i].Index, b.NameOf(k), b.Features[k].Index)
		}
	}
	row := several(severalRow)
	if allocs := testing.AllocsPerRun(100, func() {
		b.Reset()
		if err := p.AppendLine(&b, row, 2); err != nil {
			t.Fatal(err)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations for a row, want none", allocs)
	}
}

// TestMarkIsATextElsewhere: without Config.Several a cell in quotes is a text, whatever it begins with.
func TestMarkIsATextElsewhere(t *testing.T) {
	p := parser(t, bits18, csv.Config{})
	var b feature.Batch
	if err := p.Header(&b, []byte("_label,a")); err != nil {
		t.Fatal(err)
	}
	if err := p.AppendLine(&b, several(`1,"␟n␟1␟2"`), 2); err != nil || len(b.Features) != 2 {
		t.Errorf("%d features with the constant, %v; want 2", len(b.Features), err)
	}
}

// TestLabelWithSeveralValues: it is an error and leaves the batch unchanged.
func TestLabelWithSeveralValues(t *testing.T) {
	p := parser(t, bits18, csv.Config{Several: true, Label: "y"})
	var b feature.Batch
	if err := p.Header(&b, []byte("y,a")); err != nil {
		t.Fatal(err)
	}
	err := p.AppendLine(&b, several(`"␟n␟1␟2",3`), 2)
	if err == nil || !strings.Contains(err.Error(), "the label is a list or a map: want one value in a row") || len(b.Examples) > 0 {
		t.Errorf("got %v and %d examples", err, len(b.Examples))
	}
}

// FuzzSeveral checks that a cell with any content is read or refused, with a batch that holds together.
func FuzzSeveral(f *testing.F) {
	f.Add(severalRow[2:])
	f.Add(`"␟",,,"␟e␟k"`)
	f.Add(`"␟e",,"␟n",`)
	f.Fuzz(func(t *testing.T, row string) {
		p := parser(t, bits18, csv.Config{Several: true})
		var b feature.Batch
		if err := p.Header(&b, []byte(severalHeader)); err != nil {
			t.Fatal(err)
		}
		if err := p.AppendLine(&b, several("1,"+row), 2); err != nil && len(b.Examples) > 0 {
			t.Fatalf("%v, and %d examples", err, len(b.Examples))
		}
		featuretest.HoldsTogether(t, &b, bits18)
	})
}
