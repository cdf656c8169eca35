// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/feature/parquet"
)

// written are files with the same rows, in the encodings and compressions that the package reads.
// testdata/write.py wrote them with pyarrow 26.0.1.
var written = []string{"snappy", "plain", "gzip2", "zstd", "delta", "delta2"}

func contents(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lines returns the header and the rows of a part.
func lines(b []byte, p parquet.Part) ([]string, error) {
	f, err := parquet.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	if p.To == 0 {
		p.To = f.Rows()
	}
	text, err := io.ReadAll(f.CSV(p))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// numbers replaces the numbers of a line by their float32.
func numbers(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' })
	for i, w := range words {
		quoted := strings.HasPrefix(w, `"`)
		parts := strings.Split(strings.Trim(w, `"`), " ")
		for k, p := range parts {
			if v, err := strconv.ParseFloat(p, 32); err == nil && (!quoted || len(parts) == 2) {
				parts[k] = fmt.Sprint(float32(v))
			}
		}
		if numbers := strings.Join(parts, " "); quoted && len(parts) == 2 {
			words[i] = `"` + numbers + `"`
		} else if !quoted {
			words[i] = numbers
		}
	}
	return strings.Join(words, "|") + fmt.Sprint(strings.Count(line, ","))
}

// TestRowsAreThoseOfPyarrow: nulls, both versions of pages, several pages and row groups,
// dictionaries, plain values and each compression give the rows that pyarrow read.
func TestRowsAreThoseOfPyarrow(t *testing.T) {
	want := strings.Split(strings.TrimSuffix(string(contents(t, "rows.csv")), "\n"), "\n")
	if len(want) != 301 {
		t.Fatalf("%d lines", len(want))
	}
	for _, name := range written {
		got, err := lines(contents(t, name+".parquet"), parquet.Part{})
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d lines, %v", name, len(got), err)
			continue
		}
		for i := range want {
			if diff := cmp.Diff(numbers(want[i]), numbers(got[i])); diff != "" {
				t.Fatalf("%s, row %d (-want +got):\n%s\n%s\n%s", name, i, diff, want[i], got[i])
			}
		}
	}
}

// TestDeltasAreThePlainValues: differences that wrap around, and texts that share their beginnings, give the rows of the
// file with plain values.
func TestDeltasAreThePlainValues(t *testing.T) {
	want, err := lines(contents(t, "wide.parquet"), parquet.Part{})
	if err != nil || len(want) != 301 {
		t.Fatalf("%d lines, %v", len(want), err)
	}
	got, err := lines(contents(t, "widedelta.parquet"), parquet.Part{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-plain +delta:\n%s", diff)
	}
}

// TestPartsAreTheWhole: contiguous parts follow each other, and parts of every n-th row interleave.
func TestPartsAreTheWhole(t *testing.T) {
	for _, name := range written {
		b := contents(t, name+".parquet")
		whole, err := lines(b, parquet.Part{})
		if err != nil {
			t.Fatal(err)
		}
		joined := whole[:1:1]
		cuts := []int64{0, 1, 69, 70, 128, 200, 300}
		for i := range cuts[1:] {
			part, err := lines(b, parquet.Part{From: cuts[i], To: cuts[i+1]})
			if err != nil {
				t.Fatal(err)
			}
			if part[0] != whole[0] {
				t.Errorf("%s: header %s", name, part[0])
			}
			joined = append(joined, part[1:]...)
		}
		if diff := cmp.Diff(whole, joined); diff != "" {
			t.Errorf("%s by rows:\n%s", name, diff)
		}
		dealt := make([]string, len(whole))
		dealt[0] = whole[0]
		for rank := range int64(3) {
			part, err := lines(b, parquet.Part{To: 300, Rank: rank, Total: 3})
			if err != nil {
				t.Fatal(err)
			}
			for k, line := range part[1:] {
				dealt[1+int(rank)+3*k] = line
			}
		}
		if diff := cmp.Diff(whole, dealt); diff != "" {
			t.Errorf("%s by every third row:\n%s", name, diff)
		}
	}
}

func TestErrorsNameColumnAndRemedy(t *testing.T) {
	for name, want := range map[string]string{
		"brotli.parquet":  "row 1, column _label: compression BROTLI is not supported: write the file with snappy, gzip, zstd, LZ4_RAW or none",
		"decimal.parquet": "parquet: column price has the type FIXED_LEN_BYTE_ARRAY: numbers, booleans and texts are read: convert it or leave it out",
		"rows.csv":        "parquet: the file ends with ",
	} {
		if _, err := lines(contents(t, name), parquet.Part{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
	b := contents(t, "snappy.parquet")
	for _, n := range []int{0, 4, 11, 12, len(b) / 2, len(b) - 1} {
		if _, err := lines(b[:n], parquet.Part{}); err == nil {
			t.Errorf("the first %d bytes are a file", n)
		}
	}
}

// TestDamagedFiles: a changed byte causes an error or other values, never a panic or more rows.
func TestDamagedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	all := append([]string{"several", "several2", "severaldelta"}, written...)
	for i := range 400 {
		b := bytes.Clone(contents(t, all[i%len(all)]+".parquet"))
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		got, err := lines(b, parquet.Part{To: 300})
		if err != nil {
			failed++
		}
		if len(got) > 301 {
			t.Errorf("%d lines", len(got))
		}
	}
	if failed < 40 {
		t.Errorf("%d of 400 damaged files were refused", failed)
	}
}

// FuzzOpen: no file makes the reader panic, and errors end it.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"list.parquet", "decimal.parquet", "brotli.parquet"} {
		f.Add(contents(f, name))
	}
	for _, name := range []string{"widedelta", "several", "several2", "severaldelta", "bad-structs", "bad-mapoflists"} {
		f.Add(contents(f, name+".parquet"))
	}
	for _, name := range written {
		f.Add(contents(f, name+".parquet"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parquet.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		text := file.CSV(parquet.Part{To: min(file.Rows(), 1000)}) // a damaged list may have a million values
		n, err := io.Copy(io.Discard, io.LimitReader(text, 64<<20))
		if n == 0 && err == nil {
			t.Error("not even a header")
		}
	})
}
