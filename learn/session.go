// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/examples"
)

// Session predicts examples of a [Live]. It is for one goroutine at a time:
//
//	ok, err := s.Parse(line)                 // ok is false for an empty line
//	dst, err = s.AppendAnswer(dst)           // the line that -p would have
type Session struct {
	live  *Live
	lines stream.Lines
	cross *feature.Interactor // nil: no interactions

	parsed, crossed feature.Batch
	nth             int64 // lines parsed

	visit   examples.Visit
	answers *answers
}

// SessionConfig selects the examples of a session.
type SessionConfig struct {
	Format string // "" is vw's text; "json"
	Strict bool   // a malformed line is an error; false: recover as vw does, with a warning
}

// Session returns a new session.
func (l *Live) Session(sc SessionConfig) (*Session, error) {
	c := l.cfg
	c.Data.Format, c.Data.Strict = sc.Format, sc.Strict
	if sc.Format != "" && sc.Format != FormatJSON {
		return nil, fmt.Errorf("learn: a session of format %q: want vw's text or %s", sc.Format, FormatJSON)
	}
	f := c.features()
	s := &Session{live: l, answers: l.answers}
	var err error
	if f.Expands() {
		if s.cross, err = feature.NewInteractor(f); err != nil {
			return nil, err
		}
	}
	f.Interactions, f.IgnoreLinear = nil, nil
	if format := c.DataFormat(); format.New != nil {
		s.lines, err = format.New(f)
	} else {
		s.lines, err = feature.NewParser(f)
	}
	if err != nil {
		return nil, err
	}
	stage := l.stage
	if !l.takesTurns() {
		s.answers = new(answers)
		if stage, err = l.run.reader(l.stage, s.answers); err != nil {
			return nil, err
		}
	}
	s.visit = l.run.tally.Weighted(stage.Example)
	return s, nil
}

// Parse parses a line. It returns false if the line has no example. After an error the session
// parses further lines.
func (s *Session) Parse(line []byte) (bool, error) {
	s.parsed.Reset()
	s.nth++
	if err := s.lines.AppendLine(&s.parsed, line, s.nth); err != nil {
		return false, err
	}
	if s.cross == nil || len(s.parsed.Examples) == 0 {
		return len(s.parsed.Examples) > 0, nil
	}
	s.crossed.Reset()
	return true, s.cross.Expand(&s.crossed, &s.parsed)
}

// Warnings returns the warnings of the last line. They are valid until the next one.
func (s *Session) Warnings() []feature.Warning { return s.parsed.Warnings }

// Example returns the tag of the parsed example, and the number of its features besides the
// constant and interactions. The tag is valid until the next line.
func (s *Session) Example() (tag []byte, features int) {
	ex := &s.parsed.Examples[0]
	features = len(s.parsed.FeaturesOf(ex))
	if !s.live.cfg.Features.NoConstant {
		features--
	}
	return s.parsed.TagOf(ex), features
}

// AppendAnswer predicts the parsed example, learns from it unless this is a test, and appends the
// line of its prediction to dst.
func (s *Session) AppendAnswer(dst []byte) ([]byte, error) {
	b := &s.parsed
	if s.cross != nil {
		b = &s.crossed
	}
	if s.live.takesTurns() {
		s.live.mu.Lock()
		defer s.live.mu.Unlock()
	}
	for i := range b.Examples {
		if err := s.visit(b, &b.Examples[i], false); err != nil {
			_, _ = s.answers.take(nil) // of an example before it
			return dst, err
		}
	}
	return s.answers.take(dst)
}

// Release drops buffers that a very long line has left, so that an idle session is small.
func (s *Session) Release() {
	const most = 1 << 16 // features
	if cap(s.parsed.Features)+cap(s.crossed.Features) > most {
		s.parsed, s.crossed = feature.Batch{}, feature.Batch{}
	}
}
