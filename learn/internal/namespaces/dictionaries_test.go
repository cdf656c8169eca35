// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
)

// disk is a file system in memory.
type disk map[string]string

func (d disk) open(name string) (io.ReadCloser, error) {
	text, ok := d[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// Dictionaries are searched in the directories in their order. Each has vw's lines, and a file
// that was read before has no second count of its words.
func TestLoadTranscript(t *testing.T) {
	files := Files{Path: []string{"one/", "two"}, Open: disk{
		"one/x": "good a:1\n", "two/x": "never read\n", "two/y": "good b:2\nbad c:3\n", "/abs": "good a:1\n",
	}.open}
	n := Options{Dictionary: []string{"x", "a:y", "/abs"}}
	if err := n.Load(feature.Config{Bits: 10}, files); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range n.DictionaryLines {
		text, _, _ := strings.Cut(line, ", hash=")
		lines = append(lines, text)
	}
	want := []string{
		"scanned dictionary 'x' from 'one/x'", "dictionary x contains 1 item",
		"scanned dictionary 'y' from 'two/y'", "dictionary y contains 2 items",
		"scanned dictionary '/abs' from '/abs'", // equal to x
	}
	if diff := cmp.Diff(want, lines); diff != "" || len(n.Dictionaries) != 3 {
		t.Errorf("%d dictionaries (-want +got):\n%s", len(n.Dictionaries), diff)
	}
}

// A dictionary that is missing is a fault of the field, and names the directories. Other errors
// keep their cause.
func TestLoadErrors(t *testing.T) {
	denied := errors.New("permission denied")
	for name, c := range map[string]struct {
		files Files
		field string
		want  string
	}{
		"missing":  {Files{Path: []string{"one", "two"}, Open: disk{}.open}, "Features.Namespaces.Dictionary", "x was not found in one, two"},
		"no way":   {Files{}, "Model.Open", "needed for dictionaries"},
		"denied":   {Files{Open: func(string) (io.ReadCloser, error) { return nil, denied }}, "", denied.Error()},
		"too long": {Files{Open: disk{"x": "word a " + strings.Repeat("b", 100) + "\n"}.open}, "", "x: line 1 has 108 bytes, the limit is 50"},
	} {
		n := Options{Dictionary: []string{"x"}}
		err := n.Load(feature.Config{Bits: 10, MaxLine: 50}, c.files)
		field := ""
		if e, ok := errors.AsType[*usage.Error](err); ok {
			field = e.Field
		}
		if err == nil || field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v of field %q, want %q of field %q", name, err, field, c.want, c.field)
		}
	}
	if err := (&Options{}).Load(feature.Config{}, Files{}); err != nil {
		t.Errorf("without dictionaries: %v", err)
	}
}

// A model keeps options such that a run without options that loads it has the same.
func TestModelAndTakeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string, values ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(values), 0, 2).Draw(t, name)
		}
		n := Options{
			Quadratic: list("quadratic", "ab", ":a", `\x20b`), Cubic: list("cubic", "abc"), Interactions: list("interactions", "abcd", "ab"),
			Redefine: list("redefine", "a:=b", ":="), Spelling: list("spelling", "a", "_"), Dictionary: list("dictionary", "x", "a:y"),
			Affix: rapid.SampledFrom([]string{"", "+1", "+2a,-3"}).Draw(t, "affix"), ChainHash: rapid.Bool().Draw(t, "chain hash"),
			NGrams: list("n-grams", "2", "a3"),
		}
		options, err := model.ParseOptions(string(model.AppendOptions(nil, n.Model())))
		if err != nil {
			t.Fatal(err)
		}
		var got Options
		if err := got.Take("m", &model.Header{Options: options, NGrams: n.NGrams}); err != nil {
			t.Fatal(err)
		}
		for _, lists := range [][2]*[]string{
			{&n.Quadratic, &got.Quadratic},
			{&n.Cubic, &got.Cubic},
			{&n.Interactions, &got.Interactions},
			{&n.Redefine, &got.Redefine},
			{&n.Spelling, &got.Spelling},
			{&n.Dictionary, &got.Dictionary},
			{&n.NGrams, &got.NGrams},
		} {
			if len(*lists[0]) == 0 {
				*lists[0], *lists[1] = nil, nil
			}
		}
		if diff := cmp.Diff(n, got); diff != "" {
			t.Fatalf("(-given +taken):\n%s", diff)
		}
	})
}
