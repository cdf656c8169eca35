// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/mesh"
	"github.com/gvw-project/gvw/internal/shm"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// cluster has the ranks of a job in one process, rank i on host h<i>, and the server's decisions.
type cluster struct {
	net    *mem.Network
	live   members.Set
	wiring *client.Wiring
	ranks  map[int]*rank

	mu          sync.Mutex
	cause       error // of the job's end
	endOf       error // of the epoch's end
	lost        error // why the server is lost for good
	over, ended chan struct{}
}

// rank is the job as one rank's epoch sees it, and the server as that rank sees it.
type rank struct {
	*cluster
	number   int
	mesh     *mesh.Mesh
	epoch    *Epoch
	recovers bool
	later    bool // it was in another epoch before
	closed   chan struct{}
	failed   chan struct{} // capacity 1
	atWork   atomic.Bool   // in the epoch before
}

var _ Job = (*rank)(nil)

func (r *rank) Recovers() bool             { return r.recovers }
func (r *rank) Closing() <-chan struct{}   { return r.closed }
func (r *rank) LongestWork() time.Duration { return 0 }

func (r *rank) Failed() {
	select {
	case r.failed <- struct{}{}:
	default:
	}
}

// The owner of a mesh.

func (r *rank) Newest() *client.Wiring                    { return r.wiring }
func (r *rank) Serve(net.Conn, int, *client.Wiring) error { return nil }

func (r *rank) Current() (*client.Wiring, *mesh.Epoch) {
	if !r.atWork.Load() {
		return r.wiring, r.epoch.Conns
	}
	before := *r.wiring
	before.Epoch.N--
	return &before, r.epoch.Conns
}

// The server.

func (c *cluster) Over() <-chan struct{}                { return c.over }
func (c *cluster) Ended(*client.Wiring) <-chan struct{} { return c.ended }
func (c *cluster) SetLeaveReason(string)                {}

func (c *cluster) ServerErr() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

func (c *cluster) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

func (c *cluster) EndOf(*client.Wiring) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endOf
}

func (c *cluster) Ask(context.Context, int, uint64, protocol.EdgeFault, string) bool { return true }

func (r *rank) Fail(_ context.Context, reason, detail string) error {
	if err := r.ServerErr(); err != nil {
		return err
	}
	r.endJob(&protocol.LostError{Rank: r.number, Host: fmt.Sprintf("h%d", r.number), Why: reason, Detail: detail, GaveUp: true})
	return nil
}

// endJob ends the job for the first cause.
func (c *cluster) endJob(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.endOf != nil {
		return
	}
	c.cause, c.endOf = cause, cause
	close(c.over)
	close(c.ended)
}

// endEpoch ends the epoch; the job continues.
func (c *cluster) endEpoch(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endOf = cause
	close(c.ended)
}

// newCluster returns ranks whose epochs are wired and not yet connected. change may change the
// configuration of each.
func newCluster(t *testing.T, live members.Set, total int, change func(r *rank, cfg *Config)) *cluster {
	t.Helper()
	c := &cluster{net: mem.New(), live: live, ranks: map[int]*rank{}, over: make(chan struct{}), ended: make(chan struct{})}
	c.wiring = &client.Wiring{Epoch: protocol.Epoch{Term: 1, N: 2, Incarnation: 9}, Token: [16]byte{1}, Members: live}
	log := slog.New(slog.DiscardHandler)
	job := protocol.Job{UniqueID: 7}
	for _, i := range live {
		r := &rank{cluster: c, number: i, closed: make(chan struct{}), failed: make(chan struct{}, 1)}
		c.ranks[i] = r
		host := fmt.Sprintf("h%d", i)
		m, err := mesh.Listen(context.Background(), mesh.Config{
			Network: c.net.Host(host), Listen: ":26544", Advertise: host, Job: job, Rank: i, Total: total, Log: log,
		}, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		r.mesh = m
		c.wiring.Peers.Append(protocol.Member{Rank: i, Host: host, Port: 26544})
	}
	for _, i := range live {
		r := c.ranks[i]
		cfg := Config{
			Rank: i, Total: total, Chunk: 4096, Stall: 10 * time.Second, Patience: time.Minute, DialTimeout: 10 * time.Second,
			Server: r, Mesh: r.mesh, Device: &rdma.Device{}, Segments: shm.Segments{Make: shm.NewSegment, Open: shm.OpenSegment}, Log: log,
		}
		if change != nil {
			change(r, &cfg)
		}
		r.epoch = New(cfg, r)
		r.epoch.Wire(c.wiring, live, r.later)
		t.Cleanup(func() { r.epoch.End() })
	}
	for _, r := range c.ranks {
		r.mesh.Accept()
		r.epoch.Start()
	}
	return c
}

// all calls do on all ranks at once, and returns their errors.
func (c *cluster) all(do func(r *rank) error) map[int]error {
	errs := map[int]error{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for i, r := range c.ranks {
		work.Go(func() {
			err := do(r)
			mu.Lock()
			defer mu.Unlock()
			errs[i] = err
		})
	}
	work.Wait()
	return errs
}

// connect connects all ranks.
func (c *cluster) connect(t *testing.T) {
	t.Helper()
	for rank, err := range c.all(func(r *rank) error {
		if err := r.epoch.Connect(t.Context()); err != nil {
			return err
		}
		return r.epoch.Agree(t.Context())
	}) {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
}

// sum adds up v over all ranks.
func (r *rank) sum(ctx context.Context, v []float32) error {
	b := kernels.Bytes(v)
	return r.epoch.Carry(ctx, Collective{
		Verb: engine.VerbAllReduce, Kind: kernels.KindOf[float32](), N: len(v), Name: "v", Op: kernels.Sum, Root: schedule.None, Dst: b, Src: b,
	})
}
