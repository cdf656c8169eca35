// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// BenchmarkJob measures a job over the loopback from the first JOIN to the
// last FINISHED, without collectives. Server and ranks share the machine.
func BenchmarkJob(b *testing.B) {
	for _, n := range []int{4, 64, 512} {
		b.Run(fmt.Sprintf("ranks=%d", n), func(b *testing.B) {
			s, err := NewServer(ServerConfig{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			var serving sync.WaitGroup
			serving.Go(func() {
				if err := s.Serve(context.Background(), l); err != nil {
					b.Error(err)
				}
			})
			for id := uint64(1); b.Loop(); id++ {
				var ranks sync.WaitGroup
				for rank := range n {
					ranks.Go(func() {
						if err := benchRank(b.Context(), l.Addr().String(), id, rank, n); err != nil {
							b.Error(err)
						}
					})
				}
				ranks.Wait()
			}
			if err := s.Close(); err != nil {
				b.Error(err)
			}
			serving.Wait()
		})
	}
}

func benchRank(ctx context.Context, server string, id uint64, rank, n int) error {
	m, err := client.Join(ctx, client.JoinConfig{Server: server, Job: protocol.Job{UniqueID: id}, Rank: rank, Total: n, Advertise: ":30000"})
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := m.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	if _, err := m.Complete(ctx, [32]byte{1}, nil); err != nil {
		return err
	}
	return m.Finish(ctx)
}
