// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"
)

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
