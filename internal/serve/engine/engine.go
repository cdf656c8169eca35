// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gvw-project/gvw/learn"
)

// Config configures an engine.
type Config struct {
	// Load opens the model. It is called again for each reload.
	Load func(ctx context.Context) (*learn.Live, error)
	// Save writes a file that appears under its name when it is complete; needed for Final,
	// Checkpoint and the command save_NAME.
	Save func(ctx context.Context, name string, write func(io.Writer) error) error

	Final      string        // model to write at the end of learning; empty: none
	Checkpoint string        // model to write while learning; empty: none
	Every      int           // most examples that a crash may lose; 0: 10,000
	Interval   time.Duration // most time that a crash may lose; 0: 30 s

	Parallel int // lines that are processed at the same time; 0: 10

	Log *slog.Logger // events, and warnings of lines; nil: discarded
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	f := Faults{Package: "engine"}
	f.Check(c.Load != nil, "Load is missing: it opens the model")
	f.Check(c.Save != nil || c.Final+c.Checkpoint == "", "Save is missing: it writes Final and Checkpoint")
	f.Check(c.Every >= 0, "Every is %d examples, want 0 or more", c.Every)
	f.Check(c.Interval >= 0, "Interval is %v, want 0 or more", c.Interval)
	f.Check(c.Parallel >= 0, "Parallel is %d lines, want 0 or more", c.Parallel)
	return f.Err()
}

func (c Config) withDefaults() Config {
	if c.Every == 0 {
		c.Every = 10_000
	}
	if c.Interval == 0 {
		c.Interval = 30 * time.Second
	}
	if c.Parallel == 0 {
		c.Parallel = 10
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Engine answers lines by the current model. Its methods may be called by several goroutines.
type Engine struct {
	cfg     Config
	model   atomic.Pointer[Model]
	slots   chan struct{} // one for each line that is processed
	Metrics Metrics

	reloading sync.Mutex // held during a reload
	saver     saver
}

// Metrics counts what an engine has done.
type Metrics struct {
	Answers     atomic.Uint64 // lines with a prediction
	Faults      atomic.Uint64 // lines with an error
	Warnings    atomic.Uint64 // malformed lines of Text from which the parser has recovered
	Saves       atomic.Uint64 // models saved by save_NAME
	Checkpoints atomic.Uint64
	Reloads     atomic.Uint64 // models that have replaced others
	ReloadFails atomic.Uint64 // reloads that have failed; the model before has stayed
}

// New loads the model and starts an engine. The caller calls Close, or Discard before the first session.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	live, err := cfg.Load(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, slots: make(chan struct{}, cfg.Parallel)}
	e.model.Store(newModel(e, live))
	e.saver.start(e)
	return e, nil
}

// Acquire returns the current model, which the caller releases. A reload does not change it.
func (e *Engine) Acquire() *Model {
	for {
		if m := e.model.Load(); m.acquire() {
			return m
		}
	}
}

// Reload loads a model and makes it the current one. Callers that have acquired the model before keep
// it until they release it. After an error the model before stays. A model that learns is not reloaded.
func (e *Engine) Reload(ctx context.Context) error {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	old := e.model.Load()
	if old.live.Learns() {
		return errors.New("a model that learns is not reloaded: it would forget what it has learned")
	}
	live, err := e.cfg.Load(ctx)
	if err != nil {
		e.Metrics.ReloadFails.Add(1)
		return err
	}
	e.model.Store(newModel(e, live))
	e.Metrics.Reloads.Add(1)
	return old.Release()
}

// Close saves what has been learned since the last checkpoint, to Checkpoint and Final, and ends
// the engine. No session may be in use.
func (e *Engine) Close(ctx context.Context) error {
	err := e.saver.stop(ctx, true)
	return errors.Join(err, e.model.Load().Release())
}

// Discard ends the engine and writes no file. A server that fails to start calls it instead of Close, which
// would replace Final, the model of an earlier server, by one that has learned nothing.
func (e *Engine) Discard() error {
	err := e.saver.stop(context.Background(), false)
	return errors.Join(err, e.model.Load().Release())
}

// save writes the model to a file.
func (e *Engine) save(ctx context.Context, m *Model, name string) error {
	if e.cfg.Save == nil {
		return errors.New("this server saves no models")
	}
	return e.cfg.Save(ctx, name, func(w io.Writer) error { return m.live.Save(ctx, w) })
}
