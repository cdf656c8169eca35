// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce/verbs/verbstest"
	"github.com/gvw-project/gvw/malt/internal/mailbox"
)

// TestRegisteredMemory limits the registered memory of a job over RDMA: the queues of the first vector fit, those of
// the second go over TCP. Its updates have at most MaxSparse entries.
func TestRegisteredMemory(t *testing.T) {
	const length = 1 << 12
	cfg := Config{VerbsMemory: 1 << 17} // less than 9 updates of 16 KiB
	newVerbsJob(t, 3, cfg).must(func(g *Group) error {
		ctx := context.Background()
		small, err := NewVector[float32](g, "small", 10, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}})
		if err != nil {
			return err
		}
		large, err := NewVector[float32](g, "large", length, VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp", Depth: 9}, MaxSparse: length / 2})
		if err != nil {
			return err
		}
		if size := large.object.spec.Size; size != 4*length+24 {
			return fmt.Errorf("the largest update has %d bytes, want those of a dense one", size)
		}
		half := make([]uint32, length/2)
		for i := range half {
			half[i] = uint32(i)
		}
		values := make([]float32, length)
		if err := large.ScatterSparse(ctx, append(half, length-1), values[:length/2+1]); err == nil || !strings.Contains(err.Error(), "MaxSparse") {
			return fmt.Errorf("too many entries: got %v", err)
		}
		for range 20 {
			values[0]++
			if err := large.ScatterSparse(ctx, half, values[:len(half)]); err != nil {
				return err
			}
			if n, err := large.Gather(ctx, Sum); n != 2 || err != nil {
				return fmt.Errorf("got %d updates, %v, want 2", n, err)
			}
			if err := small.Scatter(ctx); err != nil {
				return err
			}
			if n, err := small.Gather(ctx, AverageIncludingSelf); n != 2 || err != nil {
				return fmt.Errorf("got %d updates, %v, want 2", n, err)
			}
		}
		if got := large.Values()[0]; got != 2*210 {
			return fmt.Errorf("the sum is %v, want 420", got)
		}
		if a, b := small.Stats(), large.Stats(); a.Written == 0 || b.Written != 0 || b.Received != 40 {
			return fmt.Errorf("small: %+v, large: %+v, want the large vector over TCP only", a, b)
		}
		return g.Done(ctx)
	})
}

// TestSenderWithoutRegisteredMemory runs a job whose devices register the queues of the receivers, but not the buffers of
// the senders. All updates go over TCP.
func TestSenderWithoutRegisteredMemory(t *testing.T) {
	const length, size = 1 << 12, 4<<12 + 24
	j := newVerbsJob(t, 2, Config{})
	// A queue of one update has one slot; a buffer is 8 bytes larger than a slot.
	j.cfg.library.(*verbstest.Fabric).Refuse(mailbox.Layout{Payload: size}.Stride() + 1)
	j.must(func(g *Group) error {
		ctx := context.Background()
		v, err := NewVector[float32](g, "v", length, VectorConfig{ObjectConfig: ObjectConfig{Sync: "notify_ack", Depth: 1}, MaxSparse: length / 2})
		if err != nil {
			return err
		}
		if got := v.object.spec.Size; got != size {
			return fmt.Errorf("the largest update has %d bytes, want %d", got, size)
		}
		const rounds = 50
		for range rounds {
			if err := v.Scatter(ctx); err != nil {
				return err
			}
			if n, err := v.Gather(ctx, Sum); n != 1 || err != nil {
				return fmt.Errorf("got %d updates, %v, want 1", n, err)
			}
		}
		if s := v.Stats(); s.Written != 0 || s.Received != rounds {
			return fmt.Errorf("got %+v, want %d updates over TCP only", s, rounds)
		}
		return g.Done(ctx)
	})
}
