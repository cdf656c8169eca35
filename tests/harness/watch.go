// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"sync"
	"time"
)

// Buffer collects the output of a process and may be read meanwhile. Its zero value is empty.
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

// Until calls ok at the interval every until it returns true or limit has passed, and reports
// its last result. It calls ok at least once.
func Until(limit, every time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(every) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
