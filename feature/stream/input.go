// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io"
	"sync"
)

// input is the open input of a pass's reader. The pass may close it during a read, to
// end the read.
type input struct {
	mu    sync.Mutex
	open  io.Closer
	ended bool
}

// set records an opened input. It reports false if the pass has ended and does not need it.
func (i *input) set(c io.Closer) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended {
		return false
	}
	i.open = c
	return true
}

// done closes the input after it was read to its end.
func (i *input) done() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.close()
}

// end closes the input, and rejects later ones.
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

// free is a bounded list of objects for reuse. Objects that do not fit are left to the
// garbage collector.
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
