// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/hadoop"
	"github.com/gvw-project/gvw/learn"
)

// writes keeps each write by itself.
type writes struct{ all []string }

func (w *writes) Write(b []byte) (int, error) {
	w.all = append(w.all, string(b))
	return len(b), nil
}

// TestEveryWriteIsOneLine writes a text in drawn pieces, with lines for Hadoop between them:
// each write is one whole line, and the log is the text.
func TestEveryWriteIsOneLine(t *testing.T) {
	const status = "reporter:status:x\n"
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringMatching(`[a\n]{0,5}`)).Draw(t, "pieces")
		var out writes
		w := &lineWriter{out: &out, kept: &bytes.Buffer{}}
		text, own := "", 0
		for _, p := range pieces {
			if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
			text += p
			if rapid.Bool().Draw(t, "status") {
				w.line([]byte(status))
				own++
			}
		}
		w.flush()
		w.flush() // once more without effect
		for _, line := range out.all {
			if strings.IndexByte(line, '\n') != len(line)-1 {
				t.Errorf("a write of %q is not one line", line)
			}
		}
		var lines []string
		for _, line := range out.all {
			if line == status {
				own--
			} else {
				lines = append(lines, line)
			}
		}
		if own != 0 {
			t.Errorf("%d status lines are missing", own)
		}
		want := text
		if want != "" && want[len(want)-1] != '\n' {
			want += "\n"
		}
		if got := strings.Join(lines, ""); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := string(w.log()); got != text {
			t.Errorf("the log is %q, want %q", got, text)
		}
	})
}

// TestStatusKeepsATaskAlive follows the status through a task: a line within a second of each
// change, one every 10 s without a change, and none after the last.
func TestStatusKeepsATaskAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out writes
		r := &taskReport{task: hadoop.Task{Prefix: "reporter:"}, out: &lineWriter{out: &out}}
		stop, done := make(chan struct{}), make(chan struct{})
		r.set("loading data")
		go func() {
			defer close(done)
			r.run(stop, 10*time.Second)
		}()
		said := func(after time.Duration, want ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			for i, text := range want {
				want[i] = "reporter:status:" + text + "\n"
			}
			if d := cmp.Diff(want, out.all); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			out.all = nil
		}
		said(9500*time.Millisecond, "loading data")
		said(1*time.Second, "loading data")
		r.watch(learn.Progress{Pass: 2, Passes: 3, Examples: 40, Of: 100})
		said(time.Second, "pass 2/3, 40 of 100 examples")
		if _, err := r.Write([]byte(`{"pass":2,"loss":0.25}`)); err != nil {
			t.Fatal(err)
		}
		said(time.Second, "pass 2/3, 40 of 100 examples, loss 0.250000 in pass 2")
		if _, err := r.Write([]byte(`{"pass":3,"loss":0.2,"holdout_loss":0.5}`)); err != nil {
			t.Fatal(err)
		}
		said(time.Second, "pass 2/3, 40 of 100 examples, loss 0.500000 held out in pass 3")
		r.last("finished")
		said(time.Minute, "finished")
		close(stop)
		<-done
	})
}

// TestReportsComeBeforeHadoopKillsTheTask bounds the time between two reports by the silence
// after which Hadoop kills a task.
func TestReportsComeBeforeHadoopKillsTheTask(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 10 * time.Minute: 10 * time.Second, 20 * time.Second: 5 * time.Second, time.Second: time.Second,
	} {
		if got := reportEvery(timeout); got != want {
			t.Errorf("Hadoop waits for %v: a report every %v, want %v", timeout, got, want)
		}
	}
}
