// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// machine is a State whose content depends on every contribution to every step. Each part of a
// step and each read of 8 bytes takes a random time, so that epochs end in all of them.
type machine struct {
	w      *world
	rank   int
	step   uint64 // of the state
	state  uint64
	own    uint64 // the contribution to the next step
	ownOf  uint64 // the step that it is for; 0: none
	result uint64 // of the step completed last
	taken  bool   // the state came from another rank: there is no result
	worked []uint64
	took   bool // it has ever read a state
}

// contribution is what a rank adds to a step.
func contribution(state, step uint64, rank int) uint64 {
	return (state^step*0x9e3779b97f4a7c15)*2862933555777941757 + uint64(rank)
}

// expected is the state after some steps of a job of some ranks without faults.
func expected(steps uint64, total int) (state uint64) {
	for step := uint64(1); step <= steps; step++ {
		sum := uint64(0)
		for rank := range total {
			sum += contribution(state, step, rank)
		}
		state = state*31 + sum
	}
	return state
}

func (m *machine) work() {
	m.w.sleep(40)
	m.own, m.ownOf = contribution(m.state, m.step+1, m.rank), m.step+1
	m.worked = append(m.worked, m.step+1)
}

func (m *machine) Commit() error {
	m.state, m.step, m.taken = m.state*31+m.result, m.step+1, false
	return nil
}

func (m *machine) write(w io.Writer, words ...uint64) error {
	for _, x := range words {
		if err := binary.Write(w, binary.LittleEndian, x); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) read(r io.Reader, words ...*uint64) error {
	for _, x := range words {
		m.w.sleep(30)
		if err := binary.Read(r, binary.LittleEndian, x); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) WriteState(w io.Writer) error { return m.write(w, m.step, m.state) }

func (m *machine) ReadState(r io.Reader) error {
	m.ownOf, m.taken, m.took = 0, true, true
	m.state = 0xdead // a part of a state is of no use
	return m.read(r, &m.step, &m.state)
}

func (m *machine) WriteResults(w io.Writer) error {
	if m.taken {
		return ErrNoResults
	}
	return m.write(w, m.result)
}

func (m *machine) ReadResults(r io.Reader) error { return m.read(r, &m.result) }

// attempt is one attempt of a rank: it is its Job and its Server.
type attempt struct {
	w      *world
	rank   int
	number int
	steps  *Steps
	m      *machine
	ctx    context.Context
	kill   context.CancelFunc

	// A rank that takes a state holds a lock while the machine sleeps. In a synctest bubble no
	// other goroutine may wait for that lock, so a rank does not serve meanwhile. Both are under
	// the world's lock.
	taking  bool
	serving int

	// now is changed by the runner, newest by the world; both under the world's lock.
	now, newest *client.Wiring
}

var errKilled = errors.New("killed")

// world is a job of ranks that die and come again, and the rules of its server. Exchanges are a
// rendezvous of all ranks; transfers go over pipes.
type world struct {
	total int
	steps uint64

	mu        sync.Mutex
	rng       *rand.Rand
	epoch     uint32
	ended     map[*client.Wiring]chan struct{}
	over      chan struct{} // the job is finished
	attempts  []*attempt    // by rank
	met       map[uint64]map[int]uint64
	released  map[uint64]chan struct{} // by step, in the epoch
	changed   chan struct{}            // closed and replaced with each new epoch
	runners   sync.WaitGroup
	failures  []error
	transfers []string
}

func newWorld(total int, steps, seed uint64) *world {
	w := &world{
		total: total, steps: steps, rng: rand.New(rand.NewPCG(seed, 5)), over: make(chan struct{}),
		ended: map[*client.Wiring]chan struct{}{}, attempts: make([]*attempt, total), changed: make(chan struct{}),
	}
	for rank := range total {
		w.attempts[rank] = w.newAttempt(rank, 1)
	}
	w.begin()
	for _, a := range w.attempts {
		w.runners.Go(a.run)
	}
	return w
}

func (w *world) newAttempt(rank, number int) *attempt {
	a := &attempt{w: w, rank: rank, number: number, m: &machine{w: w, rank: rank}}
	a.ctx, a.kill = context.WithCancel(context.Background())
	a.steps = New(Config{Rank: rank, Total: w.total, Stall: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}, a)
	a.steps.SetRecovers(true)
	a.steps.SetState(a.m)
	return a
}

// sleep takes up to most milliseconds.
func (w *world) sleep(most int) {
	w.mu.Lock()
	d := time.Duration(w.rng.IntN(most*1000)+1) * time.Microsecond
	w.mu.Unlock()
	time.Sleep(d)
}

// begin starts an epoch at the newest step that any attempt has completed, as the server does.
// The lock is held, or nothing runs yet.
func (w *world) begin() {
	w.epoch++
	epoch := protocol.Epoch{Term: 1, N: w.epoch}
	at := make([]client.Position, w.total)
	for rank, a := range w.attempts {
		if a.newest != nil {
			at[rank] = a.steps.Seal(a.newest.Epoch)
		}
	}
	resume, source := client.Point{}, -1
	for rank, p := range at {
		if p.Completed.Step > resume.Step {
			resume, source = p.Completed, rank
		}
	}
	wirings := make([]*client.Wiring, w.total)
	for rank := range wirings {
		wirings[rank] = &client.Wiring{Epoch: epoch, Resume: resume, Members: members.All(w.total)}
	}
	for rank, p := range at {
		if p.Completed == resume {
			continue
		}
		m := client.Missing{Rank: rank, Source: source, Payload: protocol.PayloadState}
		if p.Completed.Step+1 == resume.Step && p.Work {
			m.Payload = protocol.PayloadResults
		}
		wirings[rank].Missing = &m
		wirings[source].Owed = append(wirings[source].Owed, m)
	}
	for rank, a := range w.attempts {
		a.newest = wirings[rank]
		w.ended[a.newest] = make(chan struct{})
	}
	w.met, w.released = map[uint64]map[int]uint64{}, map[uint64]chan struct{}{}
	close(w.changed)
	w.changed = make(chan struct{})
}

// interrupt ends the epoch, after the loss of a rank if it is not negative, and begins the next
// one with another attempt of that rank.
func (w *world) interrupt(lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.over:
		return
	default:
	}
	for _, a := range w.attempts {
		close(w.ended[a.newest])
	}
	var again *attempt
	if lost >= 0 {
		w.attempts[lost].kill()
		again = w.newAttempt(lost, w.attempts[lost].number+1)
		w.attempts[lost] = again
	}
	w.begin()
	if again != nil {
		w.runners.Go(again.run)
	}
}

// run is the runner of an attempt, as allreduce.Group.Run.
func (a *attempt) run() {
	err := a.play()
	if gone := a.ctx.Err() != nil; err == nil || gone {
		return
	}
	if _, lost := errors.AsType[*SourceLostError](err); lost {
		a.w.interrupt(a.rank) // as the server does when the attempt ends
		return
	}
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.failures = append(a.w.failures, fmt.Errorf("attempt %d of rank %d: %w", a.number, a.rank, err))
	a.w.end()
}

// end ends the job. The lock is held.
func (w *world) end() {
	select {
	case <-w.over:
	default:
		close(w.over)
		for _, a := range w.attempts {
			a.kill()
		}
	}
}

func (a *attempt) play() error {
	a.w.mu.Lock()
	first := a.newest
	a.w.mu.Unlock()
	a.Enter(first)
	for a.m.step < a.w.steps {
		if a.m.ownOf != a.m.step+1 {
			a.m.work()
		}
		a.steps.WorkDone(time.Millisecond)
		if err := a.steps.Run(a.ctx, Step{Exchange: a.exchange, Commit: a.m.Commit}); err != nil {
			return err
		}
		if a.ctx.Err() != nil {
			return errKilled
		}
	}
	return a.finish()
}

// exchange meets all ranks in the epoch, and sums what they contribute.
func (a *attempt) exchange(context.Context) error {
	w, step := a.w, a.m.step+1
	if a.steps.Missing() != nil {
		return a.EndError("the rank lacks something")
	}
	if a.m.ownOf != step { // the state was taken: the work is void
		a.m.work()
	}
	w.mu.Lock()
	if a.now != a.newest || a.ctx.Err() != nil {
		w.mu.Unlock()
		return a.EndError("exchange")
	}
	if w.met[step] == nil {
		w.met[step], w.released[step] = map[int]uint64{}, make(chan struct{})
	}
	w.met[step][a.rank] = a.m.own
	released, met := w.released[step], w.met[step]
	if len(met) == w.total {
		close(released)
	}
	ended := w.ended[a.now]
	w.mu.Unlock()
	select {
	case <-released:
	case <-ended:
		return a.EndError("exchange")
	case <-w.over:
		return errKilled
	case <-a.ctx.Done():
		return errKilled
	}
	sum := uint64(0)
	for _, x := range met {
		sum += x
	}
	a.m.result = sum
	w.sleep(20) // so that an epoch may end when some ranks have completed the step
	return nil
}

// finish waits until all attempts have done all steps; until then this one serves others.
func (a *attempt) finish() error {
	for {
		a.w.mu.Lock()
		newest, all := a.newest, true
		for _, o := range a.w.attempts {
			done, _, _ := o.steps.Pace()
			all = all && done == a.w.steps
		}
		if all {
			a.w.end()
		}
		a.w.mu.Unlock()
		if newest != a.now { // a rank was lost: another attempt takes the state from this one
			a.Enter(newest)
			if a.steps.Missing() != nil {
				if _, err := a.steps.resume(a.ctx); err != nil {
					return err
				}
			}
		}
		select {
		case <-a.w.over:
			return nil
		case <-a.ctx.Done():
			return errKilled
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (a *attempt) Current() (*client.Wiring, members.Set) { return a.now, members.All(a.w.total) }

func (a *attempt) Enter(w *client.Wiring) {
	a.w.mu.Lock()
	a.now = w
	a.w.mu.Unlock()
	a.steps.Begin(w)
}

func (a *attempt) EndError(doing string) error {
	if a.ctx.Err() != nil {
		return errKilled
	}
	return &engine.InterruptedError{Where: engine.Where{Rank: a.rank}, Err: errors.New(doing)}
}

func (a *attempt) WaitsFor() int      { return -1 }
func (a *attempt) Inject(fault.Point) {}
func (a *attempt) Server() Server     { return a }

func (a *attempt) Pull(ctx context.Context, w *client.Wiring, from int, _ string, take func(net.Conn) error) error {
	a.w.mu.Lock()
	for a.serving > 0 {
		a.w.mu.Unlock()
		time.Sleep(time.Millisecond)
		a.w.mu.Lock()
	}
	source := a.w.attempts[from]
	current := source.newest.Epoch == w.Epoch && !source.taking
	if current {
		a.taking = true
		source.serving++
	}
	served := source.newest
	a.w.transfers = append(a.w.transfers, fmt.Sprintf("%v of step %d", w.Missing.Payload, w.Resume.Step))
	a.w.mu.Unlock()
	if !current {
		return errors.New("the source is in another epoch, or takes a state itself")
	}
	defer func() {
		a.w.mu.Lock()
		defer a.w.mu.Unlock()
		a.taking = false
		source.serving--
	}()
	a.w.sleep(10) // to connect: the epoch may end before the request
	here, there := net.Pipe()
	defer here.Close()
	cut := func() { here.SetDeadline(time.Unix(1, 0)) }
	defer context.AfterFunc(ctx, cut)()
	defer context.AfterFunc(a.ctx, cut)()
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() {
		defer there.Close()
		defer context.AfterFunc(source.ctx, func() { there.Close() })()
		_ = source.steps.Serve(there, a.rank, served) // the other end reports it
	})
	err := take(here)
	here.Close()
	return err
}

func (a *attempt) Next(ctx context.Context, after *client.Wiring) (*client.Wiring, error) {
	for {
		a.w.mu.Lock()
		newest, changed := a.newest, a.w.changed
		a.w.mu.Unlock()
		if newest != after {
			return newest, nil
		}
		select {
		case <-changed:
		case <-a.w.over:
			return nil, errKilled
		case <-a.ctx.Done():
			return nil, errKilled
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (a *attempt) Ended(w *client.Wiring) <-chan struct{} {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	return a.w.ended[w]
}

func (a *attempt) Over() <-chan struct{} { return a.w.over }
func (a *attempt) ServerErr() error      { return nil }
func (a *attempt) Lease(context.Context) error {
	return nil
}

func (a *attempt) Ask(context.Context, int, uint64, protocol.EdgeFault, string) bool { return false }
