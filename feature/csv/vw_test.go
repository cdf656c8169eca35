// SPDX-License-Identifier: Apache-2.0

package csv_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

// recorded are the files of testdata, which vw_csv.py made.
var recorded = map[string]struct {
	feature feature.Config
	csv     csv.Config
}{
	"plain":     {},
	"names":     {feature: feature.Config{HashSeed: 7}},
	"all":       {feature: feature.Config{HashAll: true, HashSeed: 7, Bits: 31}},
	"semicolon": {csv: csv.Config{Separator: ";"}},
	"tab":       {csv: csv.Config{Separator: `\t`}},
	"values":    {csv: csv.Config{NamespaceValues: "ab:0.5,:8,b:-1e1,c:0"}},
	"header":    {csv: csv.Config{Header: "_label,b|x,y"}},
	"bare":      {csv: csv.Config{Header: "_label,b|x,y", NoFileHeader: true}},
	"unlabeled": {},
}

// TestExamplesAreThoseOfVW compares each row of the files in testdata with the example that the
// real vw parses, bit by bit, except for the order of namespaces.
func TestExamplesAreThoseOfVW(t *testing.T) {
	for name, c := range recorded {
		t.Run(name, func(t *testing.T) {
			if c.feature.Bits == 0 {
				c.feature.Bits = 18
			}
			c.feature.NoConstant = true // vw's cache does not hold it
			p := parser(t, c.feature, c.csv)
			rows := rows(t, name)
			var b feature.Batch
			line := int64(1)
			if !c.csv.NoFileHeader {
				if err := p.Header(&b, rows[0]); err != nil {
					t.Fatal(err)
				}
				rows = rows[1:]
				line++
			}
			want := featuretest.Recorded(t, "testdata/examples-"+name+".txt")
			if len(want) != len(rows) {
				t.Fatalf("%d rows, %d examples of vw", len(rows), len(want))
			}
			for i, row := range rows {
				b.Reset()
				if err := p.AppendLine(&b, row, line+int64(i)); err != nil {
					t.Errorf("row %d %q: %v", i+1, row, err)
					continue
				}
				if len(b.Examples) == 0 {
					if !strings.HasSuffix(want[i], " 1") {
						t.Errorf("row %d %q is no example, for vw it is %s", i+1, row, want[i])
					}
					continue
				}
				if diff := cmp.Diff(sorted(want[i]), sorted(featuretest.InVWsWords(&b))); diff != "" {
					t.Errorf("row %d %q (-vw +gvw):\n%s", i+1, row, diff)
				}
			}
		})
	}
}

// sorted sorts the namespaces of an example in the recorded form.
func sorted(example string) []string {
	parts := strings.Split(example, " | ")
	slices.Sort(parts[1:])
	return parts
}

// rows returns the lines of a file in testdata.
func rows(t testing.TB, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func parser(t testing.TB, cfg feature.Config, opts csv.Config) *csv.Parser {
	t.Helper()
	p, err := csv.NewParser(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
