// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/learn/internal/sgdstage"
	"github.com/gvw-project/gvw/learn/internal/trainer"
)

// freed reports whether the memory of v was freed.
func freed(v []float32) *atomic.Bool {
	gone := new(atomic.Bool)
	runtime.AddCleanup(&v[0], func(gone *atomic.Bool) { gone.Store(true) }, gone)
	return gone
}

// collected waits until gone reports true, or until the memory must still be referenced.
func collected(gone *atomic.Bool) bool {
	for range 6000 { // a minute; the collector of a busy machine takes its time
		if runtime.GC(); gone.Load() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// When SGD has ended, a rank that keeps its state has one of the two tables left, since others
// may ask for the last results. When L-BFGS has results, it has none.
func TestHybridReleasesTables(t *testing.T) {
	// The loss on this set rises as the training set is learned.
	worse := regexp.MustCompile(`(?m)^\S+`).ReplaceAllStringFunc(randomText(50), func(label string) string {
		return strings.TrimPrefix("-"+label, "--")
	})
	for name, change := range map[string]func(*Config){
		"default rule":                    func(*Config) {},
		"a table whose changes are noted": func(c *Config) { c.Features.Bits = 15 },
		"plain":                           func(c *Config) { c.SGD.Plain = true },
		"the best pass is not the last":   func(c *Config) { c.Holdout.Off, c.Holdout.Period, c.Hybrid.SGDPasses = false, 10, 6 },
		"back to the best pass": func(c *Config) {
			c.Holdout.Valid, c.Holdout.EarlyTerminate, c.Hybrid.SGDPasses = []Input{textInput("valid", worse)}, 2, 12
		},
	} {
		t.Run(name, func(t *testing.T) {
			const ranks = 2
			parts := deal(randomText(120*ranks), ranks)
			h := newRehearsal(t, func(rank int) Config {
				c := Config{
					Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), parts[rank])}},
					Features: FeatureConfig{Bits: 8},
					Loss:     LossConfig{Function: "logistic"},
					Holdout:  HoldoutConfig{Off: true},
					Reg:      RegConfig{L2: 1},
					Hybrid:   &Hybrid{SGDPasses: 2, LBFGSPasses: 4},
				}
				change(&c)
				return c
			}, disturbance{kind: "again"}) // so that the state is kept
			var ended atomic.Int32
			left := make([]*atomic.Bool, ranks)
			machine := make([]*atomic.Bool, ranks)
			h.commit = func(rank int, m *trainer.Trainer) error {
				sgd := m.Stage()
				o, is := sgd.(*sgdstage.Online)
				if !is {
					err := m.Commit()
					if left[rank] != nil && !collected(left[rank]) {
						t.Errorf("rank %d: L-BFGS has results, and a table of SGD is still held", rank)
					}
					left[rank] = nil
					return err
				}
				work, result := freed(o.Tables.Work), freed(o.Tables.Result)
				if machine[rank] == nil {
					machine[rank] = new(atomic.Bool)
					runtime.AddCleanup(o, func(gone *atomic.Bool) { gone.Store(true) }, machine[rank])
				}
				was := bytesOf(true, m.WriteResults)
				sgd, o = nil, nil
				if err := m.Commit(); err != nil {
					return err
				}
				if _, more := m.Stage().(*sgdstage.Online); more {
					return nil
				}
				ended.Add(1)
				if !collected(work) {
					t.Errorf("rank %d: SGD has ended, and the table that it has learned in is still held", rank)
				}
				if !collected(machine[rank]) {
					t.Errorf("rank %d: SGD has ended, and its machine is still held, with its best weights", rank)
				}
				if now := bytesOf(true, m.WriteResults); !bytes.Equal(was, now) {
					t.Errorf("rank %d: the results of the last pass of SGD are others now", rank)
				}
				if result.Load() {
					t.Errorf("rank %d: the table of the results was freed, which others may ask for", rank)
				}
				left[rank] = result
				return nil
			}
			if _, errs := h.run(ranks); errors.Join(errs...) != nil {
				t.Fatal(errs)
			}
			if ended.Load() != ranks {
				t.Errorf("SGD has ended on %d ranks, want %d", ended.Load(), ranks)
			}
		})
	}
}
