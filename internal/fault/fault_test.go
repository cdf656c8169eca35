// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Plan{
		"rank:2,op:17,kind:exit":           {{Rank: 2, At: Op, N: 17, Kind: Exit, Code: DefaultCode, Attempt: 1, Generation: 1}},
		" kind:exit , code:9 , op:1 ; ":    {{Rank: Every, At: Op, N: 1, Kind: Exit, Code: 9, Attempt: 1, Generation: 1}},
		"rank:0,work:3,slow:10":            {{Rank: 0, At: Work, N: 3, Kind: Slow, Factor: 10, Attempt: 1, Generation: 1}},
		"op:3,kind:slow,delay:50ms":        {{Rank: Every, At: Op, N: 3, Kind: Slow, Delay: 50 * time.Millisecond, Attempt: 1, Generation: 1}},
		"commit:1,kind:drop,attempt:2":     {{Rank: Every, At: Commit, N: 1, Kind: Drop, Attempt: 2, Generation: 1}},
		"delivery:1,kind:kill,attempt:any": {{Rank: Every, At: Delivery, N: 1, Kind: Kill, Attempt: Any, Generation: 1}},
		"write:1,kind:stop;wiring:2,kind:kill": {
			{Rank: Every, At: Write, N: 1, Kind: Stop, Attempt: 1, Generation: 1},
			{Rank: Every, At: Wiring, N: 2, Kind: Kill, Attempt: 1, Generation: 1},
		},
		"op:1,kind:drop,generation:2":               {{Rank: Every, At: Op, N: 1, Kind: Drop, Attempt: 1, Generation: 2}},
		"generation:any,op:1,attempt:any,kind:drop": {{Rank: Every, At: Op, N: 1, Kind: Drop, Attempt: Any, Generation: Any}},
		"op:1,kind:garble;op:2,kind:halfopen": {
			{Rank: Every, At: Op, N: 1, Kind: Garble, Attempt: 1, Generation: 1},
			{Rank: Every, At: Op, N: 2, Kind: HalfOpen, Attempt: 1, Generation: 1},
		},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
		again, err := Parse(got.String())
		if d := cmp.Diff(want, again); d != "" || err != nil {
			t.Errorf("%q is written as %q: %s %v", text, got, d, err)
		}
	}
}

// A plan that would have no effect or another one is refused, and the error gives the right
// syntax.
func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                                    "rank:2,op:17,kind:exit",
		";;":                                  "it is empty",
		"op:17":                               "add kind:",
		"kind:exit":                           "op:17",
		"rank:2 op:1":                         "want a number from 0",
		"exit":                                "name:value",
		"op:0,kind:exit":                      "want a number from 1",
		"op:1,work:1,kind:exit":               "both op and work",
		"op:1,op:2,kind:exit":                 "twice",
		"op:1,kind:vanish":                    "exit, kill, crash, stop, slow, drop, garble, halfopen",
		"rank:-1,op:1,kind:exit":              "omit it for all",
		"op:1,kind:slow":                      "slow:10",
		"op:1,slow:10":                        "delay:T",
		"work:1,slow:1":                       "above 1",
		"work:1,slow:NaN":                     "above 1",
		"work:1,slow:2,delay:1s":              "one of them",
		"work:1,delay:-1s":                    "above 0",
		"work:1,kind:exit,delay:1s":           "ignored with kind:exit",
		"work:1,kind:kill,code:3":             "ignored with kind:kill",
		"work:1,kind:exit,code:256":           "1 to 255",
		"delivery:1,kind:drop":                "op, work or commit",
		"wiring:1,kind:garble":                "op, work or commit",
		"op:1,kind:exit,attempt:0":            "want a number from 1",
		"op:1,kind:exit,generation:0":         "generation:0: want a number from 1",
		"op:1,kind:exit,node:2":               `"node" is unknown`,
		"op:1,kind:exit;op:x,kind:exit":       "fault 2",
		strings.Repeat("op:1,kind:kill;", 65): "at most 64",
	} {
		p, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v; want %q", text, p, err, says)
		}
	}
}

// arm records the actions, and disarms at the test's end.
func arm(t *testing.T, text string, attempt uint64) *[]string {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	note := func(what string) { did = append(did, what) }
	Arm(p, Life{Attempt: attempt}, Hands{
		Exit:  func(code int) { note(fmt.Sprint("exit ", code)) },
		Kill:  func() { note("kill") },
		Stop:  func() { note("stop") },
		Sleep: func(d time.Duration) { note(fmt.Sprint("sleep ", d.Round(time.Millisecond))) },
	})
	t.Cleanup(func() { Arm(nil, Life{}, Hands{}) })
	return &did
}

func TestStrikesOnceWhereItShould(t *testing.T) {
	did := arm(t, "rank:1,op:2,kind:exit;rank:1,op:2,kind:drop;work:1,kind:kill,rank:0;commit:3,kind:stop", 1)
	for range 5 {
		At(0, Op) // another rank's
	}
	for n := 1; n <= 4; n++ {
		want := None
		if n == 2 {
			want = Drop
		}
		if act := At(1, Op); act.Kind != want {
			t.Errorf("op %d: %v, want %v", n, act.Kind, want)
		}
		At(1, Work)
		At(0, Commit)
	}
	At(0, Work)
	if d := cmp.Diff([]string{"exit 70", "stop", "kill"}, *did); d != "" {
		t.Error(d)
	}
}

func TestSlownessStays(t *testing.T) {
	synctest.Test(t, testSlowness)
}

func testSlowness(t *testing.T) {
	did := arm(t, "op:2,delay:50ms;work:2,slow:3", 1)
	for range 3 {
		At(0, Op)
		done := At(0, Work).Stretch()
		time.Sleep(10 * time.Millisecond)
		done()
	}
	if d := cmp.Diff([]string{"sleep 50ms", "sleep 20ms", "sleep 50ms", "sleep 20ms"}, *did); d != "" {
		t.Error(d)
	}
}

// A process that was started again does not die again.
func TestAttempts(t *testing.T) {
	const text = "op:1,kind:exit;op:1,kind:kill,attempt:2;op:1,kind:stop,attempt:any"
	for attempt, want := range map[uint64][]string{1: {"exit 70", "stop"}, 2: {"kill", "stop"}, 3: {"stop"}} {
		did := arm(t, text, attempt)
		At(0, Op)
		if d := cmp.Diff(want, *did); d != "" {
			t.Errorf("attempt %d: %s", attempt, d)
		}
	}
	Arm(Plan{{At: Op, N: 1, Kind: Exit, Attempt: 1}}, Life{Attempt: 2}, Hands{})
	if current.Load() != nil {
		t.Error("a plan for another attempt costs something")
	}
}

// A fault does not trigger again in a job that was restarted as a whole, unless the fault
// requests it.
func TestGenerations(t *testing.T) {
	p, err := Parse("op:1,kind:kill;op:1,kind:stop,generation:2;op:1,kind:exit,generation:any;op:1,kind:kill,generation:2,attempt:2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Arm(nil, Life{}, Hands{}) })
	for in, want := range map[Life]string{
		{}:                          "kill exit ",
		{Generation: 1}:             "kill exit ",
		{Generation: 2}:             "stop exit ",
		{Generation: 2, Attempt: 2}: "kill ",
		{Generation: 3}:             "exit ",
	} {
		did := ""
		Arm(p, in, Hands{
			Kill: func() { did += "kill " },
			Stop: func() { did += "stop " },
			Exit: func(int) { did += "exit " },
		})
		if At(0, Op); did != want {
			t.Errorf("%+v: %q, want %q", in, did, want)
		}
	}
}

func TestWithin(t *testing.T) {
	p := Plan{{Rank: Every}, {Rank: 3}}
	if _, ok := p.Within(4); !ok {
		t.Error("rank 3 of 4 is there")
	}
	if f, ok := p.Within(3); ok || f.Rank != 3 {
		t.Error("rank 3 of 3 is accepted")
	}
}

func TestCostsNothing(t *testing.T) {
	Arm(nil, Life{}, Hands{})
	if n := testing.AllocsPerRun(100, func() { At(3, Op).Stretch()() }); n != 0 {
		t.Errorf("%v allocations without a plan", n)
	}
	arm(t, "rank:1,op:1000000,kind:exit", 1)
	if n := testing.AllocsPerRun(100, func() { At(1, Op) }); n != 0 {
		t.Errorf("%v allocations with a plan", n)
	}
}

func BenchmarkUnset(b *testing.B) {
	Arm(nil, Life{}, Hands{})
	for b.Loop() {
		At(1, Op)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"rank:2,op:17,kind:exit", "work:1,slow:10;commit:2,delay:1s,attempt:any", "op:1,kind:exit,code:9", ",:;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if d := cmp.Diff(p, again); d != "" || err != nil {
			t.Errorf("%q is written as %q: %s %v", text, p, d, err)
		}
	})
}
