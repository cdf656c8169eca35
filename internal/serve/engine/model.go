// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"sync/atomic"

	"github.com/gvw-project/gvw/learn"
)

// Kind is the format of lines.
type Kind uint8

const (
	Text   Kind = iota // vw's text; a malformed line is read as far as possible, as in vw
	Strict             // vw's text; a malformed line is an error, also where vw's strict mode recovers
	JSON               // an object of vw's JSON
	kinds
)

// sessions are the configurations of the kinds.
var sessions = [kinds]learn.SessionConfig{Text: {}, Strict: {Strict: true}, JSON: {Format: learn.FormatJSON, Strict: true}}

// Model is a model that an engine has loaded.
type Model struct {
	engine *Engine
	live   *learn.Live
	users  atomic.Int64 // the engine counts as one while the model is current
	idle   [kinds]sync.Pool
}

func newModel(e *Engine, live *learn.Live) *Model {
	m := &Model{engine: e, live: live}
	m.users.Store(1)
	return m
}

// acquire adds a user, and returns false if the model has been closed.
func (m *Model) acquire() bool {
	for {
		n := m.users.Load()
		if n == 0 {
			return false
		}
		if m.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release ends the use of the model. The last user closes a model that has been replaced.
func (m *Model) Release() error {
	if m.users.Add(-1) > 0 {
		return nil
	}
	return m.live.Close()
}

// Info describes the model.
func (m *Model) Info() learn.ModelInfo { return m.live.Info() }

// Learns reports whether the model learns from the lines that it answers.
func (m *Model) Learns() bool { return m.live.Learns() }

// Counters returns the sums of a model that learns.
func (m *Model) Counters() learn.Counters { return m.live.Counters() }

// Session returns an idle session, or a new one. The caller gives it back by Put.
func (m *Model) Session(k Kind) (*Session, error) {
	if s, ok := m.idle[k].Get().(*Session); ok {
		return s, nil
	}
	s, err := m.live.Session(sessions[k])
	if err != nil {
		return nil, err
	}
	return &Session{Session: s, model: m, kind: k}, nil
}

// Put takes back a session of m.
func (m *Model) Put(s *Session) {
	s.Count()
	s.Release()
	s.AnyFile = false
	m.idle[s.kind].Put(s)
}
