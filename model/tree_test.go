// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// treeSection returns a section of --log_multi with a root and two leaves, of two classes each.
func treeSection() []byte {
	le := binary.LittleEndian
	words := func(p []byte, words ...uint32) []byte {
		for _, w := range words {
			p = le.AppendUint32(p, w)
		}
		return p
	}
	classes := func(p []byte) []byte {
		for label := range uint32(2) {
			p = le.AppendUint64(p, math.Float64bits(1.5))
			p = words(p, math.Float32bits(0.25), 6, label+1, 7)
		}
		return p
	}
	p := words(nil, 2, 3, 2, 0, 1, 0)
	p = words(append(p, 1), 4)
	p = append(words(p, 0, 2, 5), 1)
	p = words(p, 0, 1, 2, math.Float32bits(-0.5))
	p = le.AppendUint64(p, math.Float64bits(-3))
	p = classes(words(p, 6))
	for range 2 {
		p = append(words(p, 0, 2, 5), 0)
		p = classes(words(p, 4, 1))
	}
	return p
}

// treeModel returns a model of 16 weights with the section.
func treeModel(section []byte) *Regressor {
	m := meansModel(section, &Resume{Contraction: 1})
	m.Options = []Option{{"log_multi", "3"}}
	return m
}

// The section of --log_multi is read back, and printed as vw does.
func TestSectionOfTree(t *testing.T) {
	var b, text bytes.Buffer
	m := treeModel(treeSection())
	if err := Write(&b, m); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Section, got.Section); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := WriteReadable(&text, m); err != nil {
		t.Fatal(err)
	}
	classes := `  Ehk = 1.5 norm_Ehk = 0.25 nk = 6 label = 1 label_count = 7
  Ehk = 1.5 norm_Ehk = 0.25 nk = 6 label = 2 label_count = 7
`
	leaf := " parent = 0 preds = 2 min_count = 5 internal = 0 max_count = 4 max_count_label = 1\n" + classes
	want := `k = 3nodes = 3 max predictors = 2 predictors_used = 1 progress = 1 swap_resist = 4
 parent = 0 preds = 2 min_count = 5 internal = 1 base_predictor = 0 left = 1 right = 2 norm_Eh = -0.5 Eh = -3 n = 6
` + classes + leaf + leaf + ":1\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("got text\n%s\nwant it to contain\n%s", text.String(), want)
	}
	for n := range m.Section {
		m.Section = m.Section[:len(m.Section)-min(1, n)]
		if err := WriteReadable(&text, m); err != nil { // a section that the caller cut off
			t.Fatal(err)
		}
	}
}

// A damaged tree is an error, for which nothing is allocated.
func TestDamagedSectionOfTree(t *testing.T) {
	section := treeSection()
	var b bytes.Buffer
	if err := Write(&b, treeModel(section)); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b.Bytes(), section)
	if _, err := Read(bytes.NewReader(b.Bytes()[:at+60]), Limits{}); !errors.Is(err, ErrTruncated) {
		t.Errorf("a section that is cut off: got error %v, want ErrTruncated", err)
	}
	for name, c := range map[string]struct {
		at   int
		with byte
		is   error
		want string
	}{
		"nodes":    {7, 1, ErrDamaged, "a tree of 16777219 nodes"},
		"learners": {23, 1, ErrDamaged, "a tree of 3 nodes and 72057594037927937 of 2 learners"},
		"kind":     {treeSize + 12, 2, ErrDamaged, "a node of kind 2"},
		"classes":  {treeSize + 7, 255, ErrDamaged, "a node of 4278190082 classes"},
		"much":     {treeSize + 7, 1, ErrTruncated, "not written or copied to its end"},
	} {
		file := bytes.Clone(b.Bytes())
		file[at+c.at] = c.with
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(bytes.NewReader(file), Limits{})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %v: %s", name, err, c.is, c.want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
			t.Errorf("%s: %d bytes are allocated", name, got)
		}
	}
}
