// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io"
	"sync"
)

// input is what the reader of a pass has open. The pass may close it while the
// reader reads, to wake it.
type input struct {
	mu    sync.Mutex
	open  io.Closer
	ended bool
}

// set notes what was opened; false: the pass has ended, it is not needed.
func (i *input) set(c io.Closer) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return false
	}
	i.open = c
	return true
}

// done closes what is open: it was read to its end.
func (i *input) done() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.close()
}

// end closes what is open, and refuses what comes later.
func (i *input) end() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	return i.close()
}

func (i *input) close() error {
	if i.open == nil {
		return nil
	}
	err := i.open.Close()
	i.open = nil
	if err != nil {
		return fmt.Errorf("cannot close the input: %w", err)
	}
	return nil
}

// free is a list of things to be used again, of bounded length: what does not
// fit is left to the garbage collector.
type free[T any] chan T

func (f free[T]) put(v T) {
	select {
	case f <- v:
	default:
	}
}

func (f free[T]) take() (v T, ok bool) {
	select {
	case v = <-f:
		return v, true
	default:
		return v, false
	}
}
