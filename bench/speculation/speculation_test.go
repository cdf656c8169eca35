// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// Duplicates replace both kinds of slow ranks and no other rank; the sums are the same. The
// longest pass is still that of a slow rank, which must be detected first.
func TestDuplicatesHelp(t *testing.T) { synctest.Test(t, testDuplicatesHelp) }

func testDuplicatesHelp(t *testing.T) {
	r, err := Run(t.Context(), Config{Ranks: 6, Passes: 8, Pass: 100 * time.Millisecond, Slow: 0.3, Factor: 6, Floats: 1000, network: mem.New().Host("127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Early) != 1 || len(r.Late) != 1 {
		t.Fatalf("ranks %v are slow from the start, %v later, want one of each", r.Early, r.Late)
	}
	if r.Overtaken != 1 || r.HandedOver != 1 || r.Duplicates != 2 || r.With.All >= r.Without.All {
		t.Errorf("%d duplicates, %d ready first, %d took over, in %v instead of %v; want just the slow ranks replaced, and less time", r.Duplicates, r.Overtaken, r.HandedOver, r.With.All, r.Without.All)
	}
	for _, ts := range []Times{r.Without, r.With} {
		if !(ts.Low > 0 && ts.Low <= ts.Median && ts.Median <= ts.High && ts.High <= ts.Max && ts.Max <= ts.All) || ts.Communication < 0 {
			t.Errorf("times that cannot be: %+v", ts)
		}
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"6 ranks, 8 passes of 100ms; 1 from the start and 1 from pass 3 on 6 times slower", "without duplicates", "with duplicates", "758 s"} {
		if !strings.Contains(b.String(), words) {
			t.Errorf("the table lacks %q:\n%s", words, &b)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for _, c := range []struct {
		cfg  Config
		says string
	}{
		{Config{Ranks: 3}, "Ranks"},
		{Config{Ranks: 101, Processes: true}, "processes"},
		{Config{Passes: 1}, "Passes"},
		{Config{Pass: time.Millisecond}, "Pass"},
		{Config{Slow: 0.5}, "Slow"},
		{Config{Factor: 0.5}, "Factor"},
		{Config{Floats: -1}, "Floats"},
		{Config{Factor: 100}, "Within is 20s"},
	} {
		if err := c.cfg.Validate(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want something about %s", c.cfg, err, c.says)
		}
	}
}

// A signal ends the experiment at once.
func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, Config{Ranks: 4}); err == nil {
		t.Error("no error")
	}
}

// The command prints the table, and names its invalid options.
func TestBench(t *testing.T) {
	var out, faults strings.Builder
	if err := bench(t.Context(), strings.Fields("-ranks 5 -passes 7 -pass 60ms -slow 0.3 -factor 8"), &out, &faults); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "5 ranks, 7 passes of 60ms; 1 from the start and 1 from pass 3 on 8 times slower\n") || !strings.Contains(out.String(), "the same, to the last bit") {
		t.Errorf("got\n%s", &out)
	}
	for args, want := range map[string]string{
		"20":                  `got the argument "20"`,
		"-facter 20":          "facter",
		"-factor 100":         "Within is 20s",
		"-slow 0.9 -ranks 20": "Slow: got 0.9",
	} {
		if err := bench(t.Context(), strings.Fields(args), &out, &faults); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", args, err, want)
		}
	}
}

// TestMain lets the test program be an attempt.
func TestMain(m *testing.M) {
	if order, ok := isAttempt(os.Args[1:]); ok {
		if err := attemptProcess(context.Background(), order, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Processes that GVW_FAULT slows are replaced, too.
func TestProcesses(t *testing.T) {
	var r *Result
	for passes := 6; passes < 100; passes *= 4 {
		var err error
		r, err = Run(t.Context(), Config{Ranks: 4, Passes: passes, Pass: 50 * time.Millisecond, Slow: 0.25, Factor: 10, Floats: 1000, Processes: true, Within: 5 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if r.Duplicates > 0 && r.Overtaken+r.HandedOver > 0 {
			break
		}
		t.Logf("%d duplicates in %d passes, none in time on this busy machine", r.Duplicates, passes)
	}
	if len(r.Early) != 1 || len(r.Late) != 0 {
		t.Fatalf("ranks %v are slow from the start, %v later, want one and none", r.Early, r.Late)
	}
	if r.Without.Max < 400*time.Millisecond {
		t.Errorf("the longest pass took %v without duplicates, want ten times 50 ms: the fault did not strike", r.Without.Max)
	}
	if r.Duplicates == 0 || r.Overtaken+r.HandedOver == 0 {
		t.Errorf("%d duplicates, %d ready first, %d took over, want the slow rank replaced", r.Duplicates, r.Overtaken, r.HandedOver)
	}
}

func TestAttemptProcessReportsFaults(t *testing.T) {
	for order, want := range map[string]string{"{": "order of an attempt", "{}": "GVW_FAULT"} {
		t.Setenv("GVW_FAULT", "rank:1,vanish")
		if err := attemptProcess(t.Context(), order, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", order, err, want)
		}
	}
}
