// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record returns the file of a rank with one span.
func record(t *testing.T, rank int) string {
	t.Helper()
	var b bytes.Buffer
	r := New(&b, rank, NewClock(""))
	began := time.UnixMicro(1_000_000)
	r.SpanTo(Sends, `to "1"`, began, began.Add(1500*time.Nanosecond), 8)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The file is JSON, and reading returns the spans that were written.
func TestReadsWhatItWrites(t *testing.T) {
	text := record(t, 3)
	if !json.Valid([]byte(text)) {
		t.Errorf("no JSON:\n%s", text)
	}
	want := Span{Name: `to "1"`, Rank: 3, Row: Sends, Began: 1_000_000, Took: 1}
	want.Args.Bytes = 8
	for _, text := range []string{text, strings.TrimSuffix(text, "]\n")} { // as after a crash
		got, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]Span{want}, got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

// A file that ends within its last line, as that of a rank that was killed, has the events of its other lines. Other
// lines must be events, also the first one.
func TestReadsFilesThatEndWithinALine(t *testing.T) {
	whole := "[\n" + `{"ph":"X","name":"a","pid":1,"tid":2,"ts":3,"dur":4},` + "\n"
	last := `{"ph":"X","name":"b","pid":1,"tid":2,"ts":5,"dur":6}`
	for n := range len(last) + 1 {
		text := whole + last[:n]
		want := 1
		if n == len(last) {
			want = 2
		}
		spans, err := Read(strings.NewReader(text))
		if err != nil || len(spans) != want {
			t.Errorf("%q: got %d spans and error %v, want %d", text, len(spans), err, want)
		}
		var c Clocks
		var b bytes.Buffer
		if err := errors.Join(c.Read(strings.NewReader(text)), c.Merge(&b, strings.NewReader(text), strings.NewReader(text))); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if spans, err := Read(&b); err != nil || len(spans) != 2*want {
			t.Errorf("%q: got %d merged spans and error %v, want %d", text, len(spans), err, 2*want)
		}
	}
	for _, text := range []string{whole + last[:9] + "\n", whole + last[:9] + "\n" + last, last[:9]} {
		if spans, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q: got %d spans, want an error", text, len(spans))
		}
	}
}

// A merged file is JSON with the events of all files.
func TestMerge(t *testing.T) {
	var b bytes.Buffer
	if err := new(Clocks).Merge(&b, strings.NewReader(record(t, 0)), strings.NewReader(record(t, 1))); err != nil {
		t.Fatal(err)
	}
	got, err := Read(bytes.NewReader(b.Bytes()))
	if err != nil || len(got) != 2 || got[1].Rank != 1 || !json.Valid(b.Bytes()) {
		t.Errorf("%v, %v:\n%s", got, err, b.String())
	}
}

// Without a writer nothing is recorded, at no cost.
func TestNothingIsRecordedWithoutAWriter(t *testing.T) {
	r := New(nil, 0, NewClock(""))
	if n := testing.AllocsPerRun(10, func() { r.Span(Steps, "work", r.Now(), 0) }); n != 0 || !r.Now().IsZero() {
		t.Errorf("got %g allocations, want 0", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A span costs no allocation.
func TestASpanAllocatesNothing(t *testing.T) {
	r := New(discard{}, 0, NewClock(""))
	if n := testing.AllocsPerRun(100, func() { r.Span(Receives, "from 2", r.Now(), 5) }); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// Close returns the error of the writer.
func TestErrorsOfTheWriter(t *testing.T) {
	r := New(broken{}, 0, NewClock(""))
	r.Span(Steps, "work", time.Now(), 0)
	if err := r.Close(); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}

var errFull = errors.New("full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errFull }

// Any text is read or refused.
func FuzzRead(f *testing.F) {
	f.Add("[\n{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":3,\"dur\":4},\n]\n")
	f.Add("[\n{\"ph\":\"X\",\"ts\":1e99}\n")
	f.Fuzz(func(t *testing.T, text string) {
		spans, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := new(Clocks).Merge(&b, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil || len(again) != len(spans) {
			t.Errorf("%d spans, after a merge %d: %v", len(spans), len(again), err)
		}
	})
}

// The parts of a rank's time do not overlap, and together are the time in which it is in a step.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		const end = 60
		in := [end]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "spans") {
			s := Span{Row: Row(rapid.IntRange(0, 3).Draw(t, "row")), Name: rapid.SampledFrom([]string{Work, "exchange"}).Draw(t, "name")}
			s.Began, s.Took = int64(rapid.IntRange(0, end-1).Draw(t, "began")), int64(rapid.IntRange(0, 20).Draw(t, "took"))
			spans = append(spans, s)
			if s.Row <= Collectives {
				for i := s.Began; i < min(s.Began+s.Took, end); i++ {
					in[i] = true
				}
			}
		}
		var count [end]int
		for _, part := range Split(spans, 0, end) {
			for _, s := range part {
				for i := s.Lo; i < s.Hi; i++ {
					count[i]++
				}
			}
		}
		for i, n := range count {
			if want := in[i]; n > 1 && spans != nil && !bothRows(spans, int64(i)) || want != (n > 0) {
				t.Fatalf("time %d is in %d parts, in a step or collective: %v\n%v", i, n, want, spans)
			}
		}
	})
}

// bothRows reports whether two spans of the steps overlap at a time, which never happens in a file.
func bothRows(spans []Span, at int64) bool {
	names := map[string]bool{}
	for _, s := range spans {
		if s.Row == Steps && s.Began <= at && at < s.Began+s.Took {
			names[s.Name] = true
		}
	}
	return len(names) > 1
}

func TestSplitOfAStep(t *testing.T) {
	t.Parallel()
	spans := []Span{
		{Name: Work, Row: Steps, Began: 0, Took: 10},
		{Name: "all-reduce", Row: Collectives, Began: 12, Took: 8},
		{Name: "1", Row: Sends, Began: 13, Took: 3},
		{Name: "1", Row: Receives, Began: 15, Took: 3},
		{Name: "exchange", Row: Steps, Began: 10, Took: 12},
	}
	got := Split(spans, 2, 100)
	want := [Parts]Intervals{{{2, 10}}, {{10, 12}, {20, 22}}, {{13, 18}}, {{12, 13}, {18, 20}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := got[Updates].Sum(); got != 4 {
		t.Errorf("Sum is %d, want 4", got)
	}
}

// A meter adds up the spans of each step, and passes the trace on if there is a file.
func TestMeter(t *testing.T) {
	for _, trace := range []*bytes.Buffer{nil, {}} {
		var got []StepTimes
		m := &Meter{Step: func(s StepTimes) { got = append(got, s) }}
		if trace != nil {
			m.Trace = trace
		}
		r := New(m, 0, NewClock(""))
		at := func(s int64) time.Time { return time.UnixMicro(s) }
		r.SpanTo(Steps, Work, at(10), at(20), 0)
		for i := range 3 * manySpans { // parts of vectors that follow each other
			r.SpanTo(Sends, "2", at(30+int64(i)/manySpans), at(31+int64(i)/manySpans), 4)
		}
		r.SpanTo(Receives, "1", at(33), at(34), 7)
		r.SpanTo(Collectives, "sum", at(25), at(40), 4)
		r.SpanTo(Steps, "exchange", at(20), at(41), 0)
		r.SpanTo(Steps, Commit, at(41), at(45), 0)
		r.SpanTo(Steps, Work, at(45), at(46), 0)
		r.SpanTo(Steps, Commit, at(46), at(46), 0)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		const us = time.Microsecond
		want := []StepTimes{
			{Began: at(10), Ended: at(45), Parts: [Parts]time.Duration{10 * us, 10 * us, 4 * us, 11 * us}, Sent: map[int]uint64{2: 12 * manySpans}, Received: map[int]uint64{1: 7}},
			{Began: at(45), Ended: at(46), Parts: [Parts]time.Duration{us, 0, 0, 0}, Sent: map[int]uint64{}, Received: map[int]uint64{}},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if cap(m.lists.moves) > 4*manySpans {
			t.Errorf("got room for %d spans, want at most %d", cap(m.lists.moves), 4*manySpans)
		}
		if trace != nil && !json.Valid(trace.Bytes()) {
			t.Errorf("no JSON:\n%s", trace)
		}
	}
}

// A meter has the bytes of collectives in shared memory, and the time in which the rank did not wait in them.
func TestMeterOfSharedMemory(t *testing.T) {
	var got []StepTimes
	m := &Meter{Step: func(s StepTimes) { got = append(got, s) }}
	r := New(m, 1, NewClock(""))
	t0 := time.UnixMicro(1_000_000)
	at := func(us int) time.Time { return t0.Add(time.Duration(us) * time.Microsecond) }
	r.SpanTo(Steps, Work, at(0), at(100), 0)
	r.Shared([]int{0, 1, 2}, []uint64{5, 0, 7}, []uint64{5, 0, 8}, 30*time.Microsecond, at(190))
	r.SpanTo(Collectives, "all-reduce", at(100), at(200), 64)
	r.SpanTo(Steps, Commit, at(200), at(210), 0)
	want := []StepTimes{{
		Began: at(0), Ended: at(210), Sent: map[int]uint64{0: 5, 2: 7}, Received: map[int]uint64{0: 5, 2: 8},
		Parts: [Parts]time.Duration{Computes: 100 * time.Microsecond, Updates: 10 * time.Microsecond, Communicates: 30 * time.Microsecond, Waits: 70 * time.Microsecond},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if New(nil, 0, NewClock("")).Metered() {
		t.Error("no recorder has a meter")
	}
}
