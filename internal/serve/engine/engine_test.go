// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
)

// store has the files that an engine has saved.
type store struct {
	mu    sync.Mutex
	files map[string][]byte
	saves int
	fail  error
	delay time.Duration // of each save
}

func (s *store) save(_ context.Context, name string, write func(io.Writer) error) error {
	time.Sleep(s.delay)
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saves++; s.fail != nil {
		return s.fail
	}
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	s.files[name] = b.Bytes()
	return nil
}

// examples returns the number of examples that a saved model has learned from; 0: no such file.
func (s *store) examples(t *testing.T, name string) uint64 {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[name] == nil {
		return 0
	}
	reg, err := model.Read(bytes.NewReader(s.files[name]), model.Limits{Bits: 20})
	if err != nil {
		t.Fatal(err)
	}
	return reg.Resume.ExampleNumber
}

// loads returns a Load of small models. A test model predicts value for every example.
func loads(cfg learn.Config) func(context.Context) (*learn.Live, error) {
	cfg.Features.Bits = 8
	return func(ctx context.Context) (*learn.Live, error) { return learn.Open(ctx, cfg) }
}

func newEngine(t *testing.T, cfg Config) *Engine {
	t.Helper()
	if cfg.Load == nil {
		cfg.Load = loads(learn.Config{})
	}
	e, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ask answers lines by a session of the current model.
func ask(t *testing.T, e *Engine, k Kind, lines ...string) (string, error) {
	t.Helper()
	m := e.Acquire()
	defer m.Release()
	s, err := m.Session(k)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Put(s)
	var dst []byte
	for _, line := range lines {
		if dst, err = s.Answer(t.Context(), dst, []byte(line)); err != nil {
			return string(dst), err
		}
	}
	return string(dst), nil
}

// A line that has no answer is an error of its client, and the next line has its answer.
func TestFaultsHarmNoOtherLine(t *testing.T) {
	e := newEngine(t, Config{Load: loads(learn.Config{TestOnly: true})})
	for _, c := range []struct {
		kind Kind
		line string
		want string
	}{
		{Text, "1 |a x:1:2", ""},
		{Strict, "1 |a x:1:2", "malformed"},
		{Text, "bogus |a x", ""},
		{Strict, "bogus |a x", `"bogus" is not a good float`},
		{Strict, "1 2 3 4 |a x", "too many tokens"},
		{Strict, "bogus save_x|", "not a good float"},
		{JSON, `{"a":`, "JSON"},
		{JSON, `[1]`, ""},
		{Text, "save|", "no file to save to"},
		{Text, "save_x|", "saves no models"},
		{Text, "", ""},
	} {
		_, err := ask(t, e, c.kind, c.line)
		if c.want == "" && c.kind != JSON && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.line, err, c.want)
		}
		if _, ok := errors.AsType[*LineError](err); err != nil && !ok {
			t.Errorf("%q: %T is no fault of the line", c.line, err)
		}
		if got, err := ask(t, e, Text, "|a x"); got != "0\n" || err != nil {
			t.Errorf("after %q: %q, %v", c.line, got, err)
		}
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that reads strictly learns nothing from a line that the parser could only read by a recovery.
func TestMalformedLinesAreNotLearned(t *testing.T) {
	e := newEngine(t, Config{Load: loads(learn.Config{})})
	for _, c := range []struct {
		kind Kind
		want uint64
	}{{Strict, 0}, {Text, 1}} {
		if _, err := ask(t, e, c.kind, "bogus |a x"); (err == nil) != (c.kind == Text) {
			t.Errorf("kind %d: got %v", c.kind, err)
		}
		m := e.Acquire()
		if n := m.Counters().Examples; n != c.want {
			t.Errorf("kind %d: %d examples were learned, want %d", c.kind, n, c.want)
		}
		if err := m.Release(); err != nil {
			t.Error(err)
		}
	}
	if n := e.Metrics.Faults.Load(); n != 1 {
		t.Errorf("%d faults are counted, want 1", n)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// The command save_NAME writes the model as it is, and has no answer. A tag on an example with
// features is no command.
func TestSaveCommand(t *testing.T) {
	var files store
	e := newEngine(t, Config{Save: files.save, Final: "final"})
	got, err := ask(t, e, Text, "1 |a x", "1 |a x", "save_new|", "'save_quoted|", "1 |a x", "save|", "'save_none|a x")
	if err != nil || strings.Count(got, "\n") != 4 || !strings.HasSuffix(got, " save_none\n") {
		t.Errorf("got %q, %v", got, err)
	}
	counts := map[string]uint64{}
	for name := range files.files {
		counts[name] = files.examples(t, name)
	}
	if diff := cmp.Diff(map[string]uint64{"new": 2, "quoted": 2, "final": 3}, counts); diff != "" {
		t.Errorf("examples in the files (-want +got):\n%s", diff)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := files.examples(t, "final"); n != 4 {
		t.Errorf("the final model has %d examples, want 4", n)
	}
}

// A client that may be a stranger saves below the working directory only, and permission ends with the session.
func TestRemoteClientsSaveBelowTheWorkingDirectory(t *testing.T) {
	var files store
	e := newEngine(t, Config{Save: files.save})
	for _, name := range []string{"/etc/passwd", "../model", "a/../../model", "hdfs://host/model", "C:model"} {
		if _, err := ask(t, e, Text, "save_"+name+"|"); err == nil || !strings.Contains(err.Error(), "relative name") {
			t.Errorf("save_%s: got %v, want a refusal", name, err)
		}
	}
	if _, err := ask(t, e, Text, "save_models/new|"); err != nil {
		t.Error(err)
	}
	m := e.Acquire()
	s, err := m.Session(Text)
	if err != nil {
		t.Fatal(err)
	}
	s.AnyFile = true
	if _, err := s.Answer(t.Context(), nil, []byte("save_/tmp/model|")); err != nil {
		t.Error(err)
	}
	if m.Put(s); s.AnyFile {
		t.Error("the next client may name any file")
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	if len(files.files) != 2 {
		t.Errorf("%d files were saved, want 2", len(files.files))
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// While examples are learned, the checkpoint lacks at most Every of them, however slow a save is.
// Close saves the rest.
func TestCheckpointLacksAtMostEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := store{delay: 50 * time.Millisecond}
		e := newEngine(t, Config{Save: files.save, Checkpoint: "c", Final: "f", Every: 10, Interval: time.Hour})
		learned, clients := 0, 4
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range 100 {
					if _, err := ask(t, e, Text, "1 |a x"); err != nil {
						t.Error(err)
					}
					mu.Lock()
					learned++
					if lacks := learned - int(files.examples(t, "c")); lacks > 10 {
						t.Errorf("of %d examples the checkpoint lacks %d", learned, lacks)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if c, f := files.examples(t, "c"), files.examples(t, "f"); c != 400 || f != 400 {
			t.Errorf("at the end the checkpoint has %d examples and the model %d, want 400", c, f)
		}
	})
}

// Discard writes no file, and ends the engine.
func TestDiscardSavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var files store
		e := newEngine(t, Config{Save: files.save, Checkpoint: "c", Final: "f"})
		if err := e.Discard(); err != nil {
			t.Error(err)
		}
		if files.saves != 0 {
			t.Errorf("%d saves, want none", files.saves)
		}
	})
}

// An example that was answered Interval ago is in the checkpoint.
func TestCheckpointIsAtMostIntervalOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := store{delay: time.Second}
		e := newEngine(t, Config{Save: files.save, Checkpoint: "c", Interval: 10 * time.Second})
		for i := range 30 {
			if _, err := ask(t, e, Text, "1 |a x"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			if n := files.examples(t, "c"); n < uint64(i+1) {
				t.Errorf("10 s after example %d the checkpoint has %d", i+1, n)
			}
		}
		saves := files.saves
		time.Sleep(time.Minute)
		if files.saves != saves {
			t.Errorf("%d saves although nothing was learned", files.saves-saves)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Where the checkpoint cannot be written, learning goes on. Close returns the error.
func TestFailedCheckpointDoesNotStopLearning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := store{fail: errors.New("the disk is full")}
		e := newEngine(t, Config{Save: files.save, Checkpoint: "c", Every: 2, Interval: time.Minute})
		for range 20 {
			if _, err := ask(t, e, Text, "1 |a x"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := e.Close(t.Context()); !errors.Is(err, files.fail) {
			t.Errorf("got %v", err)
		}
		if err := e.Close(t.Context()); err != nil && !strings.Contains(fmt.Sprint(err), "BUG") {
			t.Logf("second Close: %v", err)
		}
	})
}

// A model that is reloaded serves new requests, while a request keeps the model that it began with.
func TestReloadIsAtomic(t *testing.T) {
	bias := float32(1)
	e := newEngine(t, Config{Load: func(ctx context.Context) (*learn.Live, error) {
		if bias > 2 {
			return nil, errors.New("no such model")
		}
		c := learn.Config{TestOnly: true}
		c.Features.Constant = bias
		c.Loss.Function = "logistic" // its range does not cut the prediction
		return loads(c)(ctx)
	}})
	old := e.Acquire()
	s, err := old.Session(Text)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(s *Session) string {
		dst, err := s.Answer(t.Context(), nil, []byte("|a x"))
		if err != nil {
			t.Fatal(err)
		}
		return string(dst)
	}
	if got := answer(s); got != "1\n" {
		t.Errorf("before the reload: %q", got)
	}
	for bias = 2; bias < 4; bias++ {
		if err := e.Reload(t.Context()); (err != nil) != (bias > 2) {
			t.Errorf("reload: %v", err)
		}
		if got := answer(s); got != "1\n" {
			t.Errorf("the request's model changed: %q", got)
		}
		if got, _ := ask(t, e, Text, "|a x"); got != "2\n" {
			t.Errorf("after the reload: %q", got)
		}
	}
	old.Put(s)
	if err := errors.Join(old.Release(), e.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if n, f := e.Metrics.Reloads.Load(), e.Metrics.ReloadFails.Load(); n != 1 || f != 1 {
		t.Errorf("%d reloads and %d failures, want one each", n, f)
	}
}

// Validate reports all faults.
func TestConfigFaults(t *testing.T) {
	c := Config{Final: "f", Every: -1, Interval: -1, Parallel: -1}
	err := c.Validate()
	for _, want := range []string{"Load", "Save", "Every", "Interval", "Parallel"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+want) {
			t.Errorf("%s is missing in %v", want, err)
		}
	}
}

// No line makes a session panic or refuse the next line.
func FuzzAnswer(f *testing.F) {
	for _, line := range []string{"1 |a x:1", "save_x|", `{"_label":1,"a":[1,2]}`, "1 2 3|a:|b", "\x00\xff|", "|a x:1:2", `{"a":{"b":null}}`} {
		f.Add(line)
	}
	var files store
	e, err := New(f.Context(), Config{Load: loads(learn.Config{}), Save: files.save})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		for k := range kinds {
			if _, err := ask(t, e, k, line); err != nil && len(err.Error()) == 0 {
				t.Error("an error without a text")
			}
		}
		got, err := ask(t, e, Text, "|zz yy")
		if err != nil || !strings.HasSuffix(got, "\n") {
			t.Errorf("after %q: %q, %v", line, got, err)
		}
	})
}
