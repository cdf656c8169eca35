// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
	"github.com/gvw-project/gvw/feature/parquet"
)

// examples returns the examples of rows in the form of recorded ones.
func examples(t testing.TB, rows []string) (all []string) {
	t.Helper()
	p, err := csv.NewParser(feature.Config{Bits: 24}, csv.Config{Several: true})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	if err := p.Header(&b, []byte(rows[0])); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		b.Reset()
		if err := p.AppendLine(&b, []byte(row), int64(i+2)); err != nil {
			t.Fatal(err)
		}
		featuretest.HoldsTogether(t, &b, feature.Config{Bits: 24})
		all = append(all, featuretest.InVWsWords(&b))
	}
	return all
}

// TestListsAndMapsAreTheTextOfVW: lists and maps that pyarrow wrote, with nulls and over several pages and row groups,
// in both versions of pages and several encodings, give the examples of the text that it wrote beside them.
func TestListsAndMapsAreTheTextOfVW(t *testing.T) {
	var want []string
	p, err := feature.NewParser(feature.Config{Bits: 24})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(contents(t, "several.vw"))) {
		var b feature.Batch
		if err := p.AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
		want = append(want, featuretest.InVWsWords(&b))
	}
	if len(want) != 240 {
		t.Fatalf("%d examples", len(want))
	}
	for _, name := range []string{"several", "several2", "severaldelta"} {
		rows, err := lines(contents(t, name+".parquet"), parquet.Part{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, examples(t, rows)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		part, err := lines(contents(t, name+".parquet"), parquet.Part{From: 1, To: 239, Rank: 2, Total: 5})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var some []string
		for row := 2; row < 239; row += 5 {
			some = append(some, want[row])
		}
		if diff := cmp.Diff(some, examples(t, part)); diff != "" {
			t.Errorf("%s, every fifth row (-want +got):\n%s", name, diff)
		}
	}
}

func TestErrorsOfNestedColumns(t *testing.T) {
	for name, want := range map[string]string{
		"lists":      "column lists has a list of lists, maps or structures: write a list of numbers or texts",
		"structs":    "column structs has a list of lists, maps or structures: write a list of numbers or texts",
		"mapoflists": "column mapoflists has a map of lists, maps or structures: write a map of texts to numbers or texts",
		"inside":     "column inside has a list or a map in a structure: write it as a column",
		"label":      "column _label has a list or a map: want one value in a row",
		"ab":         "column a|b is a map, whose keys are the names of features: name it after its namespace only, as a",
	} {
		b := contents(t, "bad-"+name+".parquet")
		if _, err := parquet.Open(bytes.NewReader(b), int64(len(b))); err == nil || err.Error() != "parquet: "+want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// TestListOfTooManyValues: values that are null count, too.
func TestListOfTooManyValues(t *testing.T) {
	const want = "row 1, column long: a row has more than 1048576 values"
	if _, err := lines(contents(t, "bad-long.parquet"), parquet.Part{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
