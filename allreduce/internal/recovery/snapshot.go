// SPDX-License-Identifier: Apache-2.0

package recovery

import "io"

// snapshotPart is the size of a part of a snapshot, in bytes.
const snapshotPart = 1 << 20

// snapshot is a copy of a state or of results, taken while no Commit runs. A slow connection
// or a disk that hangs delays only the reader of the copy, and no step.
type snapshot struct{ parts [][]byte }

// take fills an empty snapshot with the bytes that write writes. The copy is in parts, so that
// no byte moves again while it grows.
func (s *snapshot) take(write func(io.Writer) error) error { return write(s) }

func (s *snapshot) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		last := len(s.parts) - 1
		if last < 0 || len(s.parts[last]) == snapshotPart {
			s.parts = append(s.parts, make([]byte, 0, snapshotPart))
			last++
		}
		part := s.parts[last]
		k := min(len(b), snapshotPart-len(part))
		s.parts[last], b = append(part, b[:k]...), b[k:]
	}
	return n, nil
}

// writeTo writes the copy.
func (s *snapshot) writeTo(w io.Writer) error {
	for _, part := range s.parts {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
