// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// file is a file in memory.
type file struct {
	bytes.Buffer
	closed bool
	err    error
}

func (f *file) Write(b []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Buffer.Write(b)
}

func (f *file) Close() error {
	f.closed = true
	return nil
}

func at(seconds int64) func() time.Time {
	return func() time.Time { return time.Unix(seconds, 500_000_000) }
}

func value(v float64) *float64 { return &v }

// Reading returns what was written, and the bytes of the format are these.
func TestReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	f := &file{}
	w := NewWriter(f, 0, at(1000))
	w.Add(&Run{Version: Version, ID: "1/a", Program: "gvw", Go: "go1.26", Ranks: 2, Options: map[string][]string{"data": {"a", "b"}}, Data: []File{{"a", 3, 0}}})
	w.Add(&Machine{Attempt: 1, Host: "h", OS: "linux", Arch: "amd64", CPUs: 2, PID: 7})
	w.Add(&Pass{Pass: 1, Method: "SGD", Examples: 3, Weight: value(3), Loss: value(0.5), Seconds: 1})
	w.Add(&Step{First: 1, Last: 1, Began: 999, Seconds: Times{Compute: 1, Wait: 0.5}, Sent: map[int]uint64{1: 8}, Via: map[int]string{1: "tcp"}})
	slog.New(NewHandler(w, slog.LevelInfo)).With("rank", 1).WithGroup("link").Warn("a rank is lost", "host", "h1")
	slog.New(NewHandler(w, slog.LevelInfo)).Debug("not recorded")
	w.Add(&Data{Examples: 3, Bytes: 9, CRC: "00ff"})
	if err := w.Close(nil); err != nil || !f.closed {
		t.Fatal(err)
	}
	text := f.String()
	want := `{"event":"run","time":1000.5,"rank":0,"version":1,"run":"1/a","program":"gvw","go":"go1.26","ranks":2,"options":{"data":["a","b"]},"data":[{"name":"a","bytes":3}]}
{"event":"rank","time":1000.5,"rank":0,"attempt":1,"host":"h","os":"linux","arch":"amd64","cpus":2,"pid":7}
{"event":"pass","time":1000.5,"rank":0,"pass":1,"method":"SGD","examples":3,"weight":3,"loss":0.5,"seconds":1}
{"event":"step","time":1000.5,"rank":0,"first":1,"last":1,"began":999,"seconds":{"read":0,"compute":1,"update":0,"network":0,"wait":0.5},"sent":{"1":8},"via":{"1":"tcp"}}
{"event":"log","time":T,"rank":0,"level":"WARN","text":"a rank is lost","fields":"rank=1 link.host=h1"}
{"event":"data","time":1000.5,"rank":0,"examples":3,"bytes":9,"crc32c":"00ff"}
{"event":"end","time":1000.5,"rank":0}
`
	r, err := Read("f", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	stamp := fmt.Sprintf("%.6f", r.Messages[0].Time)
	shown := strings.ReplaceAll(strings.Replace(text, strings.TrimRight(stamp, "0"), "T", 1), "T000", "T")
	if d := cmp.Diff(want, shown); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if r.Run.Ranks != 2 || len(r.Machines) != 1 || *r.Passes[0].Loss != 0.5 || r.Steps[0].Sent[1] != 8 || r.Data[0].CRC != "00ff" || len(r.Ends) != 1 || r.Partial {
		t.Errorf("got %+v", r)
	}
	// As after a crash: any prefix can be read, and half a line is left out.
	half, err := Read("f", strings.NewReader(text[:strings.Index(text, `"method"`)]))
	if err != nil || len(half.Passes) != 0 || !half.Partial {
		t.Errorf("half a line: %+v, %v", half, err)
	}
}

// A file of many steps has few lines, which together cover all steps.
func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	f := &file{}
	w := NewWriter(f, 3, at(0))
	const steps = 100_000
	for i := range steps {
		w.Add(&Step{First: i + 1, Last: i + 1, Seconds: Times{Compute: 1}, Received: map[int]uint64{2: 10}})
	}
	if err := w.Close(errors.New("interrupted")); err != nil {
		t.Fatal(err)
	}
	r, err := Read("f", f)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Steps); n > 8*stepLines {
		t.Errorf("got %d lines of steps, want at most %d", n, 8*stepLines)
	}
	next, sum, bytes := 1, 0.0, uint64(0)
	for _, s := range r.Steps {
		if s.First != next {
			t.Fatalf("got step %d, want %d", s.First, next)
		}
		next, sum, bytes = s.Last+1, sum+s.Seconds.Sum(), bytes+s.Received[2]
	}
	if next != steps+1 || sum != steps || bytes != 10*steps || r.Ends[0].Error != "interrupted" {
		t.Errorf("up to step %d, %g s, %d bytes, end %+v", next-1, sum, bytes, r.Ends)
	}
}

// Of many sums of vectors the newest is always there, and the file is bounded.
func TestVectorsAreBounded(t *testing.T) {
	t.Parallel()
	f := &file{}
	w := NewWriter(f, 3, at(0))
	w.Add(&Run{Version: Version})
	const calls = 100_000
	for i := range calls {
		w.Add(&Vectors{Rounds: uint64(i + 1), Edges: []Edge{{Peer: 1, Via: "tcp", Sent: uint64(i)}}})
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	r, err := Read("f", f)
	if err != nil {
		t.Fatal(err)
	}
	n := len(r.Vectors)
	if n > 8*stepLines || r.Vectors[0].Rounds != 1 {
		t.Fatalf("got %d lines from round %d, want at most %d from round 1", n, r.Vectors[0].Rounds, 8*stepLines)
	}
	last := r.Vectors[n-1]
	want := Vectors{Head: Head{Event: "vectors", Time: 0.5, Rank: 3}, Rounds: calls, Edges: []Edge{{Peer: 1, Via: "tcp", Sent: calls - 1}}}
	if d := cmp.Diff(want, last); d != "" {
		t.Errorf("the last line: -want +got:\n%s", d)
	}
}

// Messages are bounded in number and length, and the end counts those that are missing.
func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	f := &file{}
	w := NewWriter(f, 0, at(0))
	w.Add(&Run{Version: 1})
	for range maxMessages + 10 {
		w.Add(&Message{Text: strings.Repeat("x", 2*maxText)})
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	r, err := Read("f", f)
	if err != nil || len(r.Messages) != maxMessages || len(r.Messages[0].Text) != maxText || r.Ends[0].Dropped != 10 {
		t.Errorf("%d messages, end %+v, %v", len(r.Messages), r.Ends, err)
	}
}

// An error of the file ends the record and is returned at the end.
func TestErrorsOfTheFile(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	w := NewWriter(&file{err: full}, 0, nil)
	w.Add(&Machine{})
	if err := w.Close(nil); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	var none *Writer
	none.Add(&Machine{})
	if err := none.Close(nil); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	run := `{"event":"run","version":1,"run":"a"}` + "\n"
	for text, want := range map[string]string{
		"":                                   "got no event, want those of a record, or lines of a log of passes",
		run + "x\n\n":                        `line 2: got "x", want a JSON object`,
		run + "{}\n\n":                       `line 2: got "{}", want the field event, or the field pass as in a log of passes`,
		run + `{"event":"step"}` + "\n\n":    "line 2: got steps 0 to 0, want numbers from 1 in ascending order",
		`{"event":"run","version":9}` + "\n": "line 1: got a record of version 9, want 1 to 1: a newer gvw report reads it",
		run + `{"event":"run","version":1,"run":"b"}` + "\n":                     `line 2: got an event of run "b", want one of run "a": give each run a file`,
		run + `{"event":"pass","pass":0}` + "\n":                                 "line 2: got pass 0, want 1 or more",
		run + `{"event":"step","first":1,"last":1,"rank":-3}` + "\n":             "line 2: got steps of rank -3, want a rank from 0 to 1048575",
		run + `{"event":"step","first":1,"last":1,"seconds":{"wait":-1}}` + "\n": "line 2: got a time of -1 s, want 0 or more",
	} {
		_, err := Read("f", strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// A file of --log_json is a record without a head, and events of later versions are ignored.
func TestLogOfPasses(t *testing.T) {
	t.Parallel()
	r, err := Read("f", strings.NewReader(`{"event":"weather","rain":true}
{"pass":2,"loss":null}
{"pass":1,"method":"SGD","examples":3,"loss":0.25,"new":1}
`))
	if err != nil || len(r.Passes) != 2 || r.Passes[0].Pass != 1 || r.Passes[1].Loss != nil || r.Run != nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Files of one run that were written on several machines are one record, in any order.
func TestMerge(t *testing.T) {
	t.Parallel()
	read := func(text string) *Record {
		r, err := Read("f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := read(`{"event":"run","version":1,"run":"a"}` + "\n" + `{"event":"step","rank":0,"first":1,"last":2}` + "\n" + `{"event":"pass","pass":1,"loss":1}` + "\n")
	b := read(`{"event":"run","version":1,"run":"a"}` + "\n" + `{"event":"step","rank":1,"first":1,"last":2}` + "\n" + `{"event":"pass","pass":1,"loss":1}` + "\n")
	a.Merge(b)
	if len(a.Steps) != 2 || a.Steps[1].Rank != 1 || len(a.Passes) != 1 {
		t.Errorf("got %+v", a)
	}
}

// Any text is read or refused, and what is read has numbers that views can use.
func FuzzRead(f *testing.F) {
	f.Add(`{"event":"run","version":1,"run":"a","ranks":2}` + "\n" + `{"event":"step","rank":1,"first":1,"last":2,"seconds":{"wait":1},"sent":{"0":5}}` + "\n")
	f.Add(`{"pass":1,"loss":0.5,"valid":{"auc":null}}`)
	f.Add(`{"event":"step","first":1,"last":1e99}`)
	f.Add(`{"event":"end","error":"x"}` + "\n{")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read("f", strings.NewReader(text))
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without a text")
			}
			return
		}
		for _, s := range r.Steps {
			if s.First < 1 || s.Last < s.First || s.Rank < 0 || s.Seconds.Sum() < 0 {
				t.Errorf("got step %+v", s)
			}
		}
		for _, p := range r.Passes {
			if p.Pass < 1 {
				t.Errorf("got pass %+v", p)
			}
		}
	})
}

// The lines of several writers to one file are whole, in any order.
func TestWholeLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := &file{}
		var writers []*Writer
		for rank := range 3 {
			writers = append(writers, NewWriter(f, rank, nil))
		}
		writers[0].Add(&Run{Version: 1, ID: "a"})
		n := rapid.IntRange(0, 50).Draw(t, "events")
		for range n {
			writers[rapid.IntRange(0, 2).Draw(t, "writer")].Add(&Message{Text: rapid.String().Draw(t, "text")})
		}
		r, err := Read("f", f)
		if n > 0 && (err == nil) != (len(r.Messages) == n) || err != nil && r != nil {
			t.Fatalf("%v, %+v", err, r)
		}
	})
}
