// SPDX-License-Identifier: Apache-2.0

package ranklog

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/logformat"
)

// drain takes all that may be sent now.
func drain(q *Queue, now time.Time, urgent bool) (lines []string, dropped uint64, wait time.Duration) {
	for {
		b, w := q.Take(now, urgent)
		if w > 0 || len(b.Lines) == 0 {
			return lines, b.Dropped, w
		}
		lines = append(lines, b.Lines...)
	}
}

func TestQueueKeepsTheNewestLines(t *testing.T) {
	q := &Queue{Bytes: 5 * (LineBytes + 6)}
	for i := range 12 {
		fmt.Fprintf(q, "line%02d\n", i)
	}
	lines, dropped, _ := drain(q, time.Now(), false)
	if d := cmp.Diff([]string{"line07", "line08", "line09", "line10", "line11"}, lines); d != "" || dropped != 7 || q.Dropped() != 7 {
		t.Errorf("dropped %d, want 7; -want +got:\n%s", dropped, d)
	}
}

func TestQueueSendsNoMoreThanItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &Queue{Rate: 10, Burst: 20, Bytes: 1 << 20}
		fill := func() {
			for i := range 1000 {
				fmt.Fprintf(q, "%d\n", i)
			}
		}
		fill()
		lines, _, wait := drain(q, time.Now(), false)
		if len(lines) != 20 || wait != 100*time.Millisecond {
			t.Errorf("got %d lines at once, then a wait of %v, want 20 and 100ms", len(lines), wait)
		}
		time.Sleep(time.Second)
		if lines, _, _ = drain(q, time.Now(), false); len(lines) != 10 {
			t.Errorf("got %d lines after 1 s, want 10", len(lines))
		}
		time.Sleep(time.Hour)
		if lines, _, _ = drain(q, time.Now(), false); len(lines) != 20 {
			t.Errorf("got %d lines after an hour, want the burst of 20", len(lines))
		}
		if lines, _, _ = drain(q, time.Now(), true); len(lines) != 950 || lines[949] != "999" {
			t.Errorf("got %d lines before the end, want all 950", len(lines))
		}
	})
}

func TestRanksShareTheRateOfTheirJob(t *testing.T) {
	q := &Queue{Burst: 1}
	q.SetRanks(10_000)
	fmt.Fprint(q, "a\nb\n")
	at := time.Now()
	drain(q, at, false)
	if _, wait := q.Take(at, false); wait != 500*time.Millisecond {
		t.Errorf("one of 10,000 ranks waits %v for its next line, want 0.5 s", wait)
	}
}

func TestQueueWakesOnceForSeveralLines(t *testing.T) {
	q := new(Queue)
	fmt.Fprint(q, "a\nb\n")
	<-q.Wake()
	select {
	case <-q.Wake():
		t.Error("woken twice")
	default:
	}
}

func TestPutBackKeepsTheOrder(t *testing.T) {
	q := &Queue{Bytes: 4 * (LineBytes + 1)}
	fmt.Fprint(q, "a\nb\nc\n")
	b, _ := q.Take(time.Now(), false)
	fmt.Fprint(q, "d\ne\n")
	q.PutBack(b)
	lines, dropped, _ := drain(q, time.Now(), false)
	if d := cmp.Diff([]string{"b", "c", "d", "e"}, lines); d != "" || dropped != 1 {
		t.Errorf("dropped %d, want 1; -want +got:\n%s", dropped, d)
	}
}

// A rank without --log_to_server has a nil queue.
func TestNilQueueCostsNothing(t *testing.T) {
	var q *Queue
	line := []byte("x\n")
	if n := testing.AllocsPerRun(100, func() {
		_, _ = q.Write(line)
		q.Record(slog.LevelError, "x")
		if b, wait := q.Take(time.Time{}, true); b.Lines != nil || wait != 0 || q.Dropped() != 0 {
			t.Fatal("a nil queue has lines")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestRecordHasTheFormOfTheLog(t *testing.T) {
	for form, want := range map[string]string{logformat.Text: `level=ERROR msg="gives up" error="no label"`, logformat.JSON: `"level":"ERROR","msg":"gives up","error":"no label"}`} {
		q := &Queue{JSON: form == logformat.JSON}
		q.Record(slog.LevelError, "gives up", slog.String("error", "no label"))
		if lines, _, _ := drain(q, time.Now(), false); len(lines) != 1 || !strings.HasSuffix(lines[0], want) {
			t.Errorf("%s: got %q, want the end %s", form, lines, want)
		}
	}
}

func TestCleanHidesSecrets(t *testing.T) {
	for in, want := range map[string]string{
		`msg="cannot read" url=https://me:pw@host/x`:                          `msg="cannot read" url=https://…@host/x`,
		`url="https://b.s3/x?X-Amz-Signature=0a1b&n=1"`:                       `url="https://b.s3/x?X-Amz-Signature=…&n=1"`,
		`{"msg":"x","password":"a b"}`:                                        `{"msg":"x","password":"… b"}`,
		`token=abc rank=3`:                                                    `token=… rank=3`,
		`msg="delegation=QUJD op=OPEN"`:                                       `msg="delegation=… op=OPEN"`,
		`header="Authorization: Bearer abcdefgh.ijk"`:                         `header="Authorization: Bearer …"`,
		`time=2026-11-23T20:15:04Z level=INFO msg="job wired" ranks=4 tokens`: `time=2026-11-23T20:15:04Z level=INFO msg="job wired" ranks=4 tokens`,
		"\x1b[2Jred\xff":                                                      `\x1b[2Jred\xff`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every batch fits into its message, every line is printable and within its limit, and each line is sent or counted once.
func TestBatchesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &Queue{Bytes: rapid.IntRange(2000, 1<<16).Draw(t, "bytes")}
		written, sent, dropped := 0, 0, uint64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			for range rapid.IntRange(0, 20).Draw(t, "lines") {
				line := strings.NewReplacer("\n", "", "\r", "").Replace(rapid.StringN(0, 50, -1).Draw(t, "line"))
				fmt.Fprintf(q, "%s\n", strings.Repeat(line, rapid.IntRange(1, 80).Draw(t, "times")))
				written++
			}
			b, _ := q.Take(time.Now(), true)
			size := 0
			for _, line := range b.Lines {
				size += LineBytes + len(line)
				if len(line) > MaxLine || !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Fatalf("line %q", line)
				}
			}
			if size > BatchBytes || len(b.Lines) > MaxLines || b.Dropped < dropped {
				t.Fatalf("a batch of %d bytes and %d lines, dropped %d after %d", size, len(b.Lines), b.Dropped, dropped)
			}
			if dropped = b.Dropped; rapid.Bool().Draw(t, "failed") {
				q.PutBack(b)
			} else {
				sent += len(b.Lines)
			}
		}
		for {
			b, _ := q.Take(time.Now(), true)
			if len(b.Lines) == 0 {
				break
			}
			sent += len(b.Lines)
		}
		if got := sent + int(q.Dropped()); got != written {
			t.Fatalf("%d lines were written, %d sent and %d dropped", written, sent, q.Dropped())
		}
	})
}
