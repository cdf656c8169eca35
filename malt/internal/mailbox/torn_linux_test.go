// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/shm"
)

// TestCopyIsNeverTorn reads a mailbox of one slot in shared memory while its sender overwrites it
// without a pause. All words of an update are its round. The memory is mapped: the race
// detector does not watch it, since this race is allowed.
func TestCopyIsNeverTorn(t *testing.T) {
	const words = 1 << 12
	updates := uint64(20_000)
	if testing.Short() {
		updates = 2000
		t.Log("sampled: 2,000 updates of 20,000")
	}
	for _, depth := range []int{1, 4} {
		l := Layout{Depth: depth, Payload: 8 * words}
		mem, err := shm.NewSegment(l.Size(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer mem.Close()
		w, err := NewWriter(Local{mem}, l, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(mem, l, 0)
		if err != nil {
			t.Fatal(err)
		}
		var writer sync.WaitGroup
		var failed error
		update := make([]byte, l.Payload)
		writer.Go(func() {
			for round := uint64(1); round <= updates; round++ {
				for at := 0; at < len(update); at += 8 {
					binary.LittleEndian.PutUint64(update[at:], round)
				}
				failed = errors.Join(failed, w.Begin(len(update)))
				w.Write(update)
				failed = errors.Join(failed, w.End(Head{Round: round}, crc32c.Checksum(update)))
			}
		})
		var buf []Update
		var private []byte
		intact, last := 0, uint64(0)
		for last < updates {
			buf = r.Updates(buf[:0])
			for _, u := range buf {
				last = u.Round
				b, ok := r.Copy(private, u)
				private = b
				if !ok {
					continue
				}
				intact++
				for at := 0; at < len(b); at += 8 {
					if got := binary.LittleEndian.Uint64(b[at:]); got != u.Round {
						t.Fatalf("depth %d: word %d of round %d is of round %d", depth, at/8, u.Round, got)
					}
				}
			}
		}
		writer.Wait()
		if failed != nil {
			t.Fatal(failed)
		}
		s := r.Stats()
		t.Logf("depth %d: %+v, %d intact", depth, s, intact)
		if intact == 0 || s.Read+s.Overwritten != updates {
			t.Errorf("depth %d: %+v, %d intact: want some intact, and each of %d updates either read or overwritten", depth, s, intact, updates)
		}
		if s.Damaged > 0 {
			t.Errorf("depth %d: %d copies had a wrong checksum although the header had not changed", depth, s.Damaged)
		}
	}
}
