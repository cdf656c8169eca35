// SPDX-License-Identifier: Apache-2.0

package csv_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/internal/featuretest"
)

var bits18 = feature.Config{Bits: 18}

func TestConfigReportsAllFaults(t *testing.T) {
	for _, c := range []struct {
		cfg  csv.Config
		want []string
	}{
		{csv.Config{}, nil},
		{csv.Config{Separator: `\t`, Header: "a|b,_label", NoFileHeader: true, NamespaceValues: "a:1e1"}, nil},
		{csv.Config{Separator: ";;", NoFileHeader: true, NamespaceValues: "a,b:x,c:,d:nan,e:1"}, []string{
			`csv.Config.Separator=";;": one character is needed`, "named by csv.Config.Header",
			`"a" is not`, `"b:x" is not`, `"c:" is not`, `"d:nan" is not`,
		}},
		{csv.Config{Separator: ":"}, []string{`csv.Config.Separator=":": quotes, bars, colons and line ends cannot`}},
		{csv.Config{Header: "a|b|c,d"}, []string{`csv.Config.Header: column 1 of the header is "a|b|c"`}},
		{csv.Config{Header: "a|b", NamespaceValues: "b:1,:2"}, []string{`would be ignored for namespaces ["b" ""]`}},
	} {
		err := c.cfg.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: %v, want %s", c.cfg, err, w)
			}
		}
		if _, e := csv.NewParser(bits18, c.cfg); (e == nil) != (err == nil) {
			t.Errorf("%+v: NewParser: %v", c.cfg, e)
		}
	}
}

// TestErrors: input that ends vw's run is an error and does not change the batch.
func TestErrors(t *testing.T) {
	for row, want := range map[string]string{
		"\n":           "the line is empty: CSV has no empty lines",
		"1,2,3\n":      "the line has 3 cells, the header has 2",
		"1\n":          "the line has 1 cells, the header has 2",
		"\f\n":         "the line has 1 cells, the header has 2",
		"1,\"abc\n":    "column 3: the cell in quotes that begins here does not end on this line",
		"1,\"a\"b\n":   "column 5: a quote inside of a cell in quotes must be doubled",
		"1,\"\"\"\n":   "column 3: the cell in quotes that begins here does not end on this line",
		"1 -2,3\n":     "invalid importance weight (-2); importance weights must be non-negative",
		"1,\"a\" \n":   "column 5: a quote inside of a cell in quotes must be doubled",
		"\"1\"2,3\r\n": "column 3: a quote inside of a cell in quotes must be doubled",
	} {
		p := parser(t, feature.Config{Bits: 18, Strict: true}, csv.Config{})
		var b feature.Batch
		if err := p.Header(&b, []byte("_label,x\r\n")); err != nil {
			t.Fatal(err)
		}
		err := p.AppendLine(&b, []byte(row), 7)
		if m, ok := errors.AsType[*feature.MalformedError](err); !ok || m.Line != 7 || err.Error() != want {
			t.Errorf("%q: got %v, want %s", row, err, want)
		}
		if diff := cmp.Diff(&feature.Batch{}, &b, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q leaves\n%s", row, diff)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		header, opts, err string
		warnings          []string
	}{
		{header: "_label,x"},
		{header: "\n", err: "the header is empty: name the columns in the first line, or by csv.Config.Header"},
		{header: "a|b|c,x", err: `column 1 of the header is "a|b|c": want a name, or a namespace and a name with one bar between them`},
		{header: `_label,"x`, err: "column 8: the cell in quotes that begins here does not end on this line"},
		{header: "a,b,c", opts: "_label,x", err: "the line has 3 cells, the header has 2"},
		{header: "anything,else", opts: "_label,x"},
		{header: "x,y", warnings: []string{"no '_label' column in the header: the examples have no labels (csv.Config.Label=COLUMN names another)"}},
		{header: "_label,b|x", warnings: []string{`csv.Config.NamespaceValues: the header has no namespace "a"`}},
	} {
		cfg := csv.Config{Header: c.opts}
		if strings.Contains(c.header, "b|x") {
			cfg.NamespaceValues = "a:2,b:1"
		}
		var b feature.Batch
		err := parser(t, bits18, cfg).Header(&b, []byte(c.header))
		if got := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && got != c.err {
			t.Errorf("%q: got %v, want %s", c.header, err, c.err)
		}
		var got []string
		for _, w := range b.Warnings {
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(c.warnings, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.header, diff)
		}
	}
}

// TestSameExamplesAsText: rows and lines of vw's text with the same content give
// the same batch.
func TestSameExamplesAsText(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Zäß漢][a-zA-Z0-9^é. ]{0,9}|[0-9]{1,9}`)
	rapid.Check(t, func(rt *rapid.T) {
		cfg := feature.Config{
			Bits:         uint(rapid.IntRange(1, 31).Draw(rt, "bits")),
			NoConstant:   rapid.Bool().Draw(rt, "noconstant"),
			Interactions: rapid.SampledFrom([][]string{nil, {"ab"}, {"::"}}).Draw(rt, "interactions"),
		}
		sep := rapid.SampledFrom([]string{",", ";", `\t`}).Draw(rt, "separator")
		join := strings.ReplaceAll(sep, `\t`, "\t")
		quote := func(s string) string {
			if strings.ContainsAny(s, join+"\"") || rapid.Bool().Draw(rt, "quotes") {
				return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
			}
			return s
		}
		// Columns of one namespace stand together here, so that text has them in
		// the same order.
		header, spaces, columns := []string{"_label", "_tag"}, []string{}, [][]string{}
		for i, ns := range rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]?|[c-z][a-z]`), 0, 4, rapid.ID).Draw(rt, "namespaces") {
			names := rapid.SliceOfN(name, 1, 4).Draw(rt, fmt.Sprint("names", i))
			for k, n := range names {
				names[k] = strings.ReplaceAll(n, " ", "_")
				title := ns + "|" + names[k]
				if ns == "" && rapid.Bool().Draw(rt, "barless") {
					title = names[k]
				}
				header = append(header, quote(title))
			}
			spaces, columns = append(spaces, ns), append(columns, names)
		}
		var want, got feature.Batch
		text, err := feature.NewParser(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		p, err := csv.NewParser(cfg, csv.Config{Separator: sep})
		if err != nil {
			rt.Fatal(err)
		}
		if err := p.Header(&got, []byte(strings.Join(header, join)+"\r\n")); err != nil {
			rt.Fatal(err)
		}
		for n := range int64(rapid.IntRange(1, 3).Draw(rt, "rows")) {
			label := rapid.SampledFrom([]string{"1", "-1 0.5", "0.25 2 -0.5", ""}).Draw(rt, "label")
			line, row, used := label+" 'tag ", []string{quote(label), quote("'tag")}, false
			for i, ns := range spaces {
				line += "|" + ns
				for _, c := range columns[i] {
					switch rapid.IntRange(0, 2).Draw(rt, "kind") {
					case 0:
						row = append(row, "")
						continue
					case 1:
						v := rapid.SampledFrom([]string{"0", "1", "-2.5", "1e-3", "0.1234567", "12345678", "inf", "+3", "0x1p3"}).Draw(rt, "number")
						line, row = line+" "+c+":"+v, append(row, v)
					default:
						v := rapid.StringMatching(`[a-df-hj-mo-z][a-z;,"é]{0,5}`).Draw(rt, "text")
						line, row = line+" "+c+":"+v, append(row, quote(v))
					}
					used = true
				}
				line += " "
			}
			if used {
				if err := text.AppendLine(&want, []byte(line), n); err != nil {
					rt.Fatal(err)
				}
			}
			if err := p.AppendLine(&got, []byte(strings.Join(row, join)+"\n"), n); err != nil {
				rt.Fatalf("%q: %v", row, err)
			}
			if diff := cmp.Diff(&want, &got, cmpopts.EquateEmpty()); diff != "" {
				rt.Errorf("%s\n%s\n%s\n(-text +csv):\n%s", line, header, row, diff)
			}
		}
	})
}

func TestNothingIsAllocatedPerRow(t *testing.T) {
	for name, c := range recorded {
		c.feature.Bits = 18
		p := parser(t, c.feature, c.csv)
		rows := rows(t, name)
		var b feature.Batch
		if !c.csv.NoFileHeader {
			if err := p.Header(&b, rows[0]); err != nil {
				t.Fatal(err)
			}
			rows = rows[1:]
		}
		append1 := func(row []byte) {
			if err := p.AppendLine(&b, row, 1); err != nil {
				t.Fatal(err)
			}
		}
		rows = slices.DeleteFunc(rows, func(row []byte) bool { // a warning is text
			b.Reset()
			append1(row)
			return len(b.Warnings) > 0
		})
		round := func() {
			b.Reset()
			for _, row := range rows {
				append1(row)
			}
		}
		if n := testing.AllocsPerRun(10, round); n != 0 {
			t.Errorf("%s: %v allocations for %d rows", name, n, len(rows))
		}
		featuretest.HoldsTogether(t, &b, c.feature)
	}
}

func BenchmarkAppendLine(b *testing.B) {
	p := parser(b, bits18, csv.Config{})
	var batch feature.Batch
	if err := p.Header(&batch, []byte("_label,_tag,s|user,s|city,premium,n|f1,n|f2,n|f3,n|f4,n|f5,n|f6")); err != nil {
		b.Fatal(err)
	}
	row := []byte(`1,id-17,bob,"paris, fr",1,0.125,12.5,3,-7.25,100,0`)
	b.SetBytes(int64(len(row)))
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		if err := p.AppendLine(&batch, row, 1); err != nil {
			b.Fatal(err)
		}
	}
}
