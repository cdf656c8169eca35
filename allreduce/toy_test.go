// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// toy is a machine whose state depends on everything that may go wrong: on the order
// of the steps, on every rank's contribution to each, and on every record.
type toy struct {
	rank, steps int
	pause       time.Duration // how long Work takes
	shard       uint64        // of what it has read; 0: the right one
	bytes       uint64        // of the shard
	group       *Group        // that it reports to
	at          func(step int, where string)

	done    int
	w       []float32 // the state
	c, r    []float32 // contribution and results
	rows    [][]byte  // of the results
	records []byte    // all records of all steps, hashed
	taken   bool      // the state came from another rank
	gone    []without // of the state: the ranks that it has gone on without
	worked  []int     // the steps whose Work was done here
}

// without is that a job goes on with some ranks from a step on.
type without struct {
	Step int
	Live []int
}

var _ Shrinker = (*toy)(nil)

const toySize = 3000

func newToy(rank, steps int) *toy {
	return &toy{
		rank: rank, steps: steps, bytes: 1000, w: make([]float32, toySize), c: make([]float32, toySize), r: make([]float32, toySize),
		records: make([]byte, sha256.Size), at: func(int, string) {},
	}
}

// toyShard returns the shard that a rank reports.
func toyShard(rank int) Shard { return Shard{Examples: uint64(10 + rank), Bytes: 1000} }

func (m *toy) Next() (string, bool) { return fmt.Sprintf("step %d", m.done+1), m.done < m.steps }
func (m *toy) Keep(bool)            {}

func (m *toy) Work(ctx context.Context) error {
	m.at(m.done+1, "work")
	m.worked = append(m.worked, m.done+1)
	for i, w := range m.w {
		m.c[i] = float32(math.Sin(float64(w)+float64(m.rank*7+i%13))) + float32(m.done)
	}
	// A channel of a timer that is due at once runs it on the spot. When two ranks of a synctest
	// bubble do, the race detector of Go 1.26 may crash: both use the bubble's one context there.
	if m.pause == 0 {
		return context.Cause(ctx)
	}
	select {
	case <-time.After(m.pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *toy) Exchange(ctx context.Context, g *Group) error {
	m.at(m.done+1, "exchange")
	m.group = g
	shard := toyShard(m.rank)
	shard.Examples += m.shard
	shard.Bytes = m.bytes
	if err := g.Ready(ctx, shard); err != nil {
		return err
	}
	if err := g.AllReduceInto(ctx, Vec(m.r), Vec(m.c).Named("contribution"), Sum); err != nil {
		return err
	}
	m.at(m.done+1, "between")
	var err error
	m.rows, err = g.AllGatherV(ctx, m.rows, fmt.Appendf(nil, "record %d of rank %d", m.done, m.rank))
	return err
}

func (m *toy) Commit() error {
	m.at(m.done+1, "commit")
	for i := range m.w {
		m.w[i] = m.w[i]/2 + m.r[i]
	}
	h := sha256.New()
	h.Write(m.records)
	for _, r := range m.rows {
		h.Write(r)
	}
	m.records = h.Sum(nil)
	m.done++
	m.taken = false
	if m.group != nil {
		m.group.Report(Progress{Step: fmt.Sprintf("step %d", m.done)})
	}
	return nil
}

func (m *toy) WriteState(w io.Writer) error {
	err := errors.Join(binary.Write(w, binary.LittleEndian, int64(m.done)), binary.Write(w, binary.LittleEndian, m.w), binary.Write(w, binary.LittleEndian, m.records))
	return errors.Join(err, gob.NewEncoder(w).Encode(m.gone))
}

// Shrink notes the remaining ranks. The state has the steps of the ranks before it.
func (m *toy) Shrink(live []int) error {
	if n := len(m.gone); n > 0 && slices.Equal(m.gone[n-1].Live, live) {
		return nil
	}
	if !slices.Contains(live, m.rank) {
		return fmt.Errorf("rank %d is to go on with %v", m.rank, live)
	}
	m.gone = append(m.gone, without{m.done, live})
	m.taken = true
	return nil
}

func (m *toy) ReadState(r io.Reader) error {
	m.at(m.done+1, "take")
	var done int64
	if err := binary.Read(r, binary.LittleEndian, &done); err != nil {
		return err
	}
	m.done, m.taken = int(done), true
	if err := binary.Read(r, binary.LittleEndian, m.w); err != nil {
		return err
	}
	if err := binary.Read(r, binary.LittleEndian, m.records); err != nil {
		return err
	}
	m.gone = nil
	return gob.NewDecoder(r).Decode(&m.gone)
}

func (m *toy) WriteResults(w io.Writer) error {
	if m.taken {
		return ErrNoResults
	}
	if err := binary.Write(w, binary.LittleEndian, m.r); err != nil {
		return err
	}
	for _, r := range m.rows {
		if err := errors.Join(binary.Write(w, binary.LittleEndian, int32(len(r))), binary.Write(w, binary.LittleEndian, r)); err != nil {
			return err
		}
	}
	return nil
}

func (m *toy) ReadResults(r io.Reader) error {
	m.at(m.done+1, "take")
	if err := binary.Read(r, binary.LittleEndian, m.r); err != nil {
		return err
	}
	m.rows = nil
	for {
		var n int32
		switch err := binary.Read(r, binary.LittleEndian, &n); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		b := make([]byte, n)
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		m.rows = append(m.rows, b)
	}
}

// model is what a run of toys ends with.
func (m *toy) model() [32]byte {
	h := sha256.New()
	_ = m.WriteState(h)
	return [32]byte(h.Sum(nil))
}

// expected is the model of an undisturbed run, found without any network.
func expected(t *testing.T, total, steps int) [32]byte {
	t.Helper()
	var model [32]byte
	inBubble(t, total, Config{}, func(t *testing.T, j *testJob, _ *mem.Network) {
		j.each(func(rank int) error {
			m := newToy(rank, steps)
			if err := j.groups[rank].Run(ctx, m); err != nil {
				return err
			}
			if rank == 0 {
				model = m.model()
			}
			return nil
		})
	})
	return model
}

// stage is a job of toys on an in-memory network, whose ranks die and come again.
type stage struct {
	t     *testing.T
	net   *mem.Network
	total int
	steps int
	cfg   Config

	unserve func()                                                   // ends the server
	onWay   func(host string, n transport.Network) transport.Network // puts something into a host's way; nil: nothing

	mu       sync.Mutex
	attempts map[int]int // by rank
	logs     map[string]*safeBuffer
	actors   map[string]*actor
	models   map[int][32]byte // that were delivered, by rank
	wait     sync.WaitGroup
}

// actor is one attempt of a rank.
type actor struct {
	s      *stage
	rank   int
	host   string
	toy    *toy
	ctx    context.Context
	cancel context.CancelCauseFunc
	change func(*toy) Machine // what is run in place of the toy; nil: the toy
	meet   func(*Group) error // what comes before it; nil: nothing
	err    error              // once done is closed
	model  [32]byte
	done   chan struct{}
}

var errKilled = errors.New("killed")

func newStage(t *testing.T, total, steps int, cfg Config) *stage {
	s := &stage{
		t: t, net: mem.New(), total: total, steps: steps, cfg: cfg, attempts: map[int]int{},
		logs: map[string]*safeBuffer{}, actors: map[string]*actor{}, models: map[int][32]byte{},
	}
	if s.cfg.OnLoss == Abort {
		s.cfg.OnLoss = Wait
	}
	s.cfg.Server = "server:26543"
	s.serve("")
	t.Cleanup(func() { s.unserve() })
	return s
}

// serve starts the server; journal is its file, "": none.
func (s *stage) serve(journal string) {
	s.t.Helper()
	l, err := s.net.Host("server").Listen(context.Background(), s.cfg.Server)
	if err != nil {
		s.t.Fatal(err)
	}
	server, err := server.NewServer(server.ServerConfig{StateFile: journal, Credentials: s.cfg.Credentials})
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.unserve = func() {
		server.Close()
		<-ended
	}
	go func() {
		defer close(ended)
		_ = server.Serve(context.Background(), l) // it ends with Close
	}()
}

// start begins an attempt of a rank, on a host of its own; -1: a spare.
func (s *stage) start(rank int, prepare func(a *actor)) *actor {
	name := fmt.Sprintf("h%d", rank)
	if rank < 0 {
		name = "spare"
	}
	s.mu.Lock()
	s.attempts[rank]++
	a := &actor{s: s, rank: rank, host: fmt.Sprintf("%s.%d", name, s.attempts[rank]), toy: newToy(rank, s.steps), done: make(chan struct{})}
	log := &safeBuffer{}
	s.logs[a.host], s.actors[a.host] = log, a
	s.mu.Unlock()
	a.toy.pause = time.Second
	ctx, cancel := context.WithCancelCause(context.Background())
	timed, stop := context.WithTimeoutCause(ctx, time.Hour, errors.New("an hour has passed"))
	a.ctx, a.cancel = timed, func(err error) {
		cancel(err)
		stop()
	}
	if prepare != nil {
		prepare(a)
	}
	cfg := s.cfg
	cfg.Job = Job{UniqueID: 7, RunKey: "toy"}
	cfg.Rank, cfg.Total, cfg.Host, cfg.Network = rank, s.total, a.host, s.net.Host(a.host)
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	if s.onWay != nil {
		cfg.Network = s.onWay(a.host, cfg.Network)
	}
	s.wait.Go(func() {
		defer close(a.done)
		defer a.cancel(nil)
		a.model, a.err = a.play(cfg)
	})
	return a
}

// kill ends an attempt as SIGKILL does: no other rank sees what it does from now on.
func (a *actor) kill() {
	a.s.net.Kill(a.host)
	a.cancel(errKilled)
}

func (a *actor) join(cfg Config) (*Group, error) {
	if a.rank >= 0 {
		return Join(a.ctx, cfg)
	}
	cfg.Spare = true
	g, err := Join(a.ctx, cfg)
	if err == nil {
		a.rank, a.toy.rank = g.Rank(), g.Rank()
	}
	return g, err
}

func (a *actor) play(cfg Config) (model [32]byte, err error) {
	g, err := a.join(cfg)
	if err != nil {
		return model, err
	}
	defer g.Close()
	if a.meet != nil {
		if err := a.meet(g); err != nil {
			return model, err
		}
	}
	var m Machine = a.toy
	if a.change != nil {
		m = a.change(a.toy)
	}
	if err := g.Run(a.ctx, m); err != nil {
		g.Fail(a.ctx, err)
		return model, err
	}
	a.toy.at(a.s.steps+1, "finish")
	model = a.toy.model()
	var owes []string
	if a.rank == 0 || cfg.OnLoss == Shrink || cfg.Elastic {
		owes = []string{"model"}
	}
	return model, g.Finish(a.ctx, model, owes, func(context.Context, string) ([32]byte, error) {
		a.toy.at(a.s.steps+1, "deliver")
		a.s.mu.Lock()
		defer a.s.mu.Unlock()
		if a.ctx.Err() == nil {
			a.s.models[a.rank] = model
		}
		return model, nil
	})
}

// end waits for all attempts, and checks what every one ended with.
func (s *stage) end(want [32]byte, finished ...*actor) {
	s.t.Helper()
	s.wait.Wait()
	for _, a := range finished {
		if a.err != nil {
			s.t.Errorf("%s: %v\n%s", a.host, a.err, s.logs[a.host])
		} else if a.model != want {
			s.t.Errorf("%s ended with another model than the undisturbed run (steps worked on: %v)", a.host, a.toy.worked)
		}
	}
	if s.models[0] != want {
		s.t.Errorf("rank 0 delivered %x, want %x", s.models[0], want)
	}
}
