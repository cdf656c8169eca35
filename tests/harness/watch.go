// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"sync"
	"time"
)

// Buffer is written by a process and read meanwhile. Its zero value is empty.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *Buffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *Buffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Until asks ok every so often until it says so, which it returns, or limit is over. It asks
// once at least.
func Until(limit, every time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(every) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
