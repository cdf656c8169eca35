// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A file has the header and all points; names with commas are quoted.
func TestFileOfAFigure(t *testing.T) {
	dir := t.TempDir()
	f := figure{
		Name: "f", Title: "T", X: "x", Y: "y", LogY: true, Notes: "n",
		Seed: "7", origin: origin{"abc", "a machine", "2026-11-24"},
		Lines: []line{{"one, two", []point{{1, 0.25}, {2, 1e-9}}}},
	}
	if err := f.write(dir, "go run"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "f.csv"))
	if err != nil {
		t.Fatal(err)
	}
	want := "# title: T\n# x: x\n# y: y\n# logy: yes\n# notes: n\n# command: go run\n# seed: 7\n# commit: abc\n# machine: a machine\n# date: 2026-11-24\nseries,x,y\n\"one, two\",1,0.25\n\"one, two\",2,1e-09\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("got %d files, want 1", len(entries))
	}
}

// A window of bases becomes all substrings of 1 to 3 bases with their positions, counted from 1. The values of all nine are 1/3.
func TestKmers(t *testing.T) {
	if got, want := kmers("-1", "ACGT"), "-1 |p:0.333333 1A 2C 3G 4T 1AC 2CG 3GT 1ACG 2CGT"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Numbered features keep their identity over examples.
func TestNumbers(t *testing.T) {
	ex, err := parse(strings.NewReader("1 |a x y\n-1 |a y z\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := number(ex); n != 4 { // x, y, z and the constant
		t.Errorf("got %d features, want 4", n)
	}
	if a, b := ex[0].Features[1], ex[1].Features[0]; a.Index != b.Index {
		t.Errorf("y has the numbers %d and %d", a.Index, b.Index)
	}
}

// Four ranks learn a small task in all synchronies, with and without a loss, to about the same objective.
func TestTraining(t *testing.T) {
	small := denseTask()
	small.examples, small.rate, small.passes, small.batch = small.examples[:2000], 1_000_000, 3, 100
	for _, r := range []training{
		{sync: "bsp"},
		{sync: "asp"},
		{sync: "ssp:2"},
		{sync: "notify_ack"},
		{sync: "bsp", kill: 0.5, killRank: 3},
	} {
		r.task, r.ranks, r.graph = small, 4, "all"
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		got, err := r.run(ctx)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if got.last() > 0.6 {
			t.Errorf("%s, kill %g: got the objective %g, want at most 0.6", r.sync, r.kill, got.last())
		}
		if s := got.states[len(got.states)-1]; s.bytes == 0 || s.examples != 1500 {
			t.Errorf("%s: got %d bytes and %d examples, want some and 1500", r.sync, s.bytes, s.examples)
		}
	}
}
