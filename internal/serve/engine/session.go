// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/learn"
)

// Session answers lines for one goroutine.
type Session struct {
	*learn.Session
	// AnyFile lets the command save_NAME write any file. false: only files in the working directory or below it, for a client
	// that may be on another machine. Put makes it false.
	AnyFile bool

	model   *Model
	kind    Kind
	tag     []byte
	answers uint64 // that Metrics do not have yet
}

// LineError is a fault of a line, which therefore has no answer.
type LineError struct{ Err error }

func (e *LineError) Error() string { return e.Err.Error() }
func (e *LineError) Unwrap() error { return e.Err }

// Begin waits until fewer than Config.Parallel goroutines process lines. The caller calls End, and does not wait
// for its client before that.
func (e *Engine) Begin(ctx context.Context) error {
	select {
	case e.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case e.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// End lets another goroutine begin.
func (e *Engine) End() { <-e.slots }

// Answer appends the answer to a line: the line that -p would have. An empty line and the command
// save_NAME have no answer. A *LineError is a fault of the line, of which nothing is used or learned. Only
// sessions of Text recover from malformed lines.
func (s *Session) Answer(ctx context.Context, dst, line []byte) ([]byte, error) {
	e := s.model.engine
	ok, err := s.Parse(line)
	if err != nil {
		e.Metrics.Faults.Add(1)
		return dst, &LineError{err}
	}
	if w := s.Warnings(); len(w) > 0 {
		if s.kind != Text { // the parser recovers from some faults in strict mode, too, as vw does
			e.Metrics.Faults.Add(1)
			return dst, &LineError{fmt.Errorf("malformed line; this recovery is not used: %s", w[0].Text)}
		}
		e.warn(w)
	}
	if !ok {
		return dst, nil
	}
	var features int
	s.tag, features = s.Example()
	if features == 0 && s.kind != JSON && bytes.HasPrefix(s.tag, saveCommand) {
		return dst, s.save(ctx)
	}
	if s.model.live.Learns() {
		e.saver.begin()
		defer e.saver.end()
	}
	before := len(dst)
	if dst, err = s.AppendAnswer(dst); err != nil {
		e.Metrics.Faults.Add(1)
		return dst[:before], err
	}
	s.answers++
	return dst, nil
}

// Count adds the answers of the session to the metrics of its engine, and so does Put. A session that is used for a long time calls it
// before its answers are sent. All threads share the counter, so one addition per line would be slow.
func (s *Session) Count() {
	if s.answers > 0 {
		s.model.engine.Metrics.Answers.Add(s.answers)
		s.answers = 0
	}
}

// Tag returns the tag of the last line, until the next one.
func (s *Session) Tag() []byte { return s.tag }

// saveCommand begins the tag of an example without features that saves the model, as in vw:
// save_NAME writes NAME, and save without a name writes the final model.
var saveCommand = []byte("save")

// save carries out the command in the tag.
func (s *Session) save(ctx context.Context) error {
	e, name := s.model.engine, s.model.engine.cfg.Final
	if len(s.tag) >= 6 && s.tag[4] == '_' {
		name = string(s.tag[5:])
		if !s.AnyFile && (!filepath.IsLocal(name) || strings.Contains(name, ":")) {
			return &LineError{fmt.Errorf("%s: clients of other machines and of HTTP save only below the server's working directory: give a relative name", plain.Text(string(s.tag)))}
		}
	}
	if name == "" {
		return &LineError{fmt.Errorf("%s: there is no file to save to: give a name, as in save_NAME", plain.Text(string(s.tag)))}
	}
	if err := e.save(ctx, s.model, name); err != nil {
		e.Metrics.Faults.Add(1)
		e.cfg.Log.Error("model not saved", "file", name, "error", err)
		return &LineError{fmt.Errorf("cannot save the model: %w", err)}
	}
	e.Metrics.Saves.Add(1)
	e.cfg.Log.Info("saved model", "file", name)
	return nil
}

// maxWarnings is the number of warnings of lines that are logged. Clients could fill a disk with
// more.
const maxWarnings = 100

// warn logs the warnings of a line.
func (e *Engine) warn(all []feature.Warning) {
	switch n := e.Metrics.Warnings.Add(1); {
	case n > maxWarnings:
	case n == maxWarnings:
		e.cfg.Log.Warn("malformed line: further ones are only counted", "fault", all[0].Text)
	default:
		e.cfg.Log.Warn("malformed line", "fault", all[0].Text)
	}
}
