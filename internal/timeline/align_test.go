// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/timeline/offset"
)

// rankFile is the file of a rank whose clock is ahead by skew. It has a span at each second, and exchanges that take 100 µs.
func rankFile(t *testing.T, rank int, machine string, skew int64, exchanges int) string {
	t.Helper()
	var b bytes.Buffer
	clock := NewClock(machine)
	clock.start = time.Unix(1000, 0)
	clock.Skew = time.Duration(skew)
	r := New(&b, rank, clock)
	for i := range 3 {
		at := time.Unix(1000+int64(i), 0)
		r.SpanTo(Steps, fmt.Sprint("step ", i), at, at.Add(time.Second/2), 0)
		if i < exchanges {
			r.Exchanged(offset.Sample{Sent: clock.Nanos(at), Received: clock.Nanos(at.Add(100 * time.Microsecond)), Remote: at.UnixNano() + 50_000}, 7)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// merge merges files, and checks the result.
func merge(t *testing.T, in ...string) (string, map[int]ClockError) {
	t.Helper()
	var c Clocks
	var readers []io.Reader
	for _, text := range in {
		if err := c.Read(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		readers = append(readers, strings.NewReader(text))
	}
	var b bytes.Buffer
	if err := c.Merge(&b, readers...); err != nil {
		t.Fatal(err)
	}
	checkTrace(t, b.Bytes())
	return b.String(), c.Errors()
}

// checkTrace checks the rules of the JSON array format of Chrome traces for the events that are used here.
func checkTrace(t *testing.T, text []byte) {
	t.Helper()
	var events []struct {
		Phase string         `json:"ph"`
		Name  string         `json:"name"`
		Pid   *int           `json:"pid"`
		Tid   *int           `json:"tid"`
		Time  *float64       `json:"ts"`
		Took  *float64       `json:"dur"`
		Args  map[string]any `json:"args"`
	}
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	texts := map[string]string{"process_name": "name", "thread_name": "name", "process_labels": "labels"}
	for _, e := range events {
		ok := e.Name != "" && e.Pid != nil
		switch e.Phase {
		case "X":
			ok = ok && e.Tid != nil && e.Time != nil && e.Took != nil && *e.Took >= 0
		case "M":
			if arg := texts[e.Name]; arg != "" {
				_, is := e.Args[arg].(string)
				ok = ok && is && (e.Name != "thread_name" || e.Tid != nil)
			}
		default:
			ok = false
		}
		if !ok {
			t.Errorf("an event that the format does not have: %+v", e)
		}
	}
}

// times returns the begins of the spans of a file, by rank.
func times(t *testing.T, text string) map[int][]int64 {
	t.Helper()
	spans, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][]int64{}
	for _, s := range spans {
		all[s.Rank] = append(all[s.Rank], s.Began)
		if s.Took < 499_000 || s.Took > 501_000 {
			t.Errorf("a span of %d µs, want 500000", s.Took)
		}
	}
	return all
}

// Times of ranks with wrong clocks are corrected, within the stated bound.
func TestMergeCorrectsClocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var in []string
		skews := rapid.SliceOfN(rapid.Int64Range(-1e12, 1e12), 1, 4).Draw(rt, "skews")
		for rank, skew := range skews {
			in = append(in, rankFile(t, rank, "", skew, 3))
		}
		text, errs := merge(t, in...)
		for rank, began := range times(t, text) {
			e := errs[rank]
			if !e.Aligned || e.Bound > 1600 || e.Exchanges != 3 || e.Rate != offset.MaxRate {
				t.Fatalf("rank %d: %+v", rank, e)
			}
			if off := e.Offset + float64(skews[rank])/1e3; off > e.Bound || -off > e.Bound {
				t.Fatalf("rank %d: the offset is %g, want %g", rank, e.Offset, -float64(skews[rank])/1e3)
			}
			for i, us := range began {
				if off := float64(us - (1000+int64(i))*1e6); off > e.Bound || -off > e.Bound {
					t.Fatalf("rank %d: step %d is %g µs off, the bound is %g", rank, i, off, e.Bound)
				}
			}
		}
	})
}

// Ranks of one machine are corrected by the same offset, unless their exchanges contradict each other.
func TestRanksOfOneMachine(t *testing.T) {
	same, errs := merge(t, rankFile(t, 0, "m", 0, 3), rankFile(t, 1, "m", 0, 1), rankFile(t, 2, "other", 5e9, 2))
	at := times(t, same)
	if d := cmp.Diff(at[0], at[1]); d != "" || errs[0].Exchanges != 4 || errs[2].Exchanges != 2 {
		t.Errorf("%+v, rank 0 and rank 1:\n%s", errs, d)
	}
	_, errs = merge(t, rankFile(t, 0, "m", 0, 3), rankFile(t, 1, "m", 5e9, 1))
	for rank, want := range []int{3, 1} {
		if e := errs[rank]; !e.Aligned || e.Exchanges != want {
			t.Errorf("rank %d: %+v, want %d exchanges", rank, e, want)
		}
	}
}

// A rank without exchanges keeps its own clock, and the file states so. A merged file is not corrected again.
func TestMergeTwice(t *testing.T) {
	text, errs := merge(t, rankFile(t, 0, "", 2e9, 3), rankFile(t, 1, "", 3e9, 0))
	if errs[1].Aligned || errs[1].Why != noExchange || times(t, text)[1][0] != 1003e6 {
		t.Errorf("%+v, begins %v", errs[1], times(t, text)[1])
	}
	again, errsAgain := merge(t, text)
	if d := cmp.Diff(text, again); d != "" {
		t.Errorf("-once +twice:\n%s", d)
	}
	if d := cmp.Diff(errs, errsAgain); d != "" {
		t.Errorf("-once +twice:\n%s", d)
	}
	for _, want := range []string{`"labels":"server's clock ± 0.`, `"labels":"its own clock: no exchange with the server"`} {
		if !strings.Contains(strings.ReplaceAll(text, `\u0026`, "&"), want) {
			t.Errorf("the file lacks %s:\n%s", want, text)
		}
	}
}

// A server that is started again has another clock: the one with the most exchanges counts.
func TestTwoServers(t *testing.T) {
	file := rankFile(t, 0, "", 1e9, 2)
	other := strings.Replace(file, "0000000000000007", "0000000000000008", 1) // the first exchange
	other = strings.Replace(other, `"remote_ns":1000000050000`, `"remote_ns":5`, 1)
	if other == file {
		t.Fatal("the file has no exchange")
	}
	_, errs := merge(t, other, rankFile(t, 1, "", 0, 3))
	if e := errs[0]; !e.Aligned || e.Exchanges != 1 {
		t.Errorf("%+v, want one exchange", e)
	}
}

// An exchange that cannot be read is an error.
func TestBrokenExchange(t *testing.T) {
	for _, args := range []string{`[]`, `{"reference":"x"}`, `{"sent_ns":1e99}`} {
		var c Clocks
		if err := c.Read(strings.NewReader(fmt.Sprintf("[\n{\"ph\":\"M\",\"name\":%q,\"pid\":0,\"args\":%s}\n]", exchangeEvent, args))); err == nil {
			t.Errorf("%s is an exchange", args)
		}
	}
}
