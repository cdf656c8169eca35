// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/allreduce/internal/rdma"
	"github.com/gvw-project/gvw/allreduce/internal/samehost"
	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/internal/kernels"
	"github.com/gvw-project/gvw/internal/link"
	"github.com/gvw-project/gvw/internal/shm"
)

// Agree agrees with the other ranks on shared memory and on the transport, by small all-reduces
// along the tree. Its connections are open.
func (e *Epoch) Agree(ctx context.Context) error {
	if e.Wiring.Stream {
		return e.streamTransport()
	}
	if err := e.share(ctx); err != nil {
		return err
	}
	if e.cfg.Transport == TCP || len(e.Live) == 1 {
		return nil
	}
	return e.upgrade(ctx)
}

// agree reduces v along the tree. something is the capability that the ranks agree on, for messages.
func (e *Epoch) agree(ctx context.Context, v []uint64, op kernels.Op, something string) error {
	b := kernels.Bytes(v)
	c := Collective{Verb: engine.VerbAllReduce, Kind: kernels.KindOf[uint64](), N: len(v), Name: something, Op: op, Root: schedule.None}
	if err := e.run(ctx, e.call(c, schedule.BinaryTree), e.Plans.Agree(len(b)), b, b); err != nil {
		return fmt.Errorf("agreeing on %s: %w", something, err)
	}
	return nil
}

// share finds the ranks that share memory, and opens the segment through which this rank all-reduces
// with those of its machine. Without a segment they use TCP, which is no error.
func (e *Epoch) share(ctx context.Context) error {
	found, err := samehost.Find(ctx, samehost.Config{
		Rank: e.cfg.Rank, Hosts: e.Wiring.Peers.Hosts(), Refuse: e.cfg.NoSharedMemory, Segments: e.cfg.Segments, Log: e.cfg.Log,
	}, func(ctx context.Context, v []uint64, op kernels.Op) error {
		return e.agree(ctx, v, op, "shared memory")
	})
	if err != nil {
		return err
	}
	for _, ranks := range found.Hosts {
		at := make([]int, len(ranks))
		for i, rank := range ranks {
			at[i] = e.Live.Position(rank)
		}
		e.Plans.Hosts = append(e.Plans.Hosts, at)
	}
	if found.Segment == nil {
		return nil
	}
	en := &e.Engine
	en.Mu.Lock()
	defer en.Mu.Unlock()
	if en.Ending {
		found.Segment.Close()
		return engine.ErrClosed
	}
	found.Segment.Unlink()
	en.Shared = shm.NewGroup(en, en.Failed, found.Segment, e.cfg.Rank, found.Ranks)
	return nil
}

// Shared returns the memory that this rank shares with others; nil: it shares none.
func (e *Epoch) Shared() *shm.Group {
	e.Engine.Mu.Lock()
	defer e.Engine.Mu.Unlock()
	return e.Engine.Shared
}

// streamTransport checks the transport of a job with vw workers, which is TCP.
func (e *Epoch) streamTransport() error {
	switch {
	case e.cfg.Transport == TCP || len(e.Live) == 1:
	case e.cfg.Transport == Verbs:
		return &verbs.SetupError{Err: fmt.Errorf("rank %d: Transport is verbs, but vw workers are in the job, and they use only TCP", e.cfg.Rank)}
	default:
		e.cfg.Log.Info("transport: TCP, since vw workers are in the job", "rank", e.cfg.Rank)
	}
	return nil
}

// upgrade finds out whether all ranks can use verbs, and if so starts the upgrade of the edges from
// TCP. Edges that open later are upgraded then.
func (e *Epoch) upgrade(ctx context.Context) error {
	log, rank, must := e.cfg.Log, e.cfg.Rank, e.cfg.Transport == Verbs
	err := e.openDevice()
	if err != nil && must {
		err = fmt.Errorf("transport verbs: %w", err)
		e.Engine.Fail(&engine.Failure{Code: engine.FaultGaveUp, By: rank, Rank: rank, Text: err.Error(), Err: err}, nil)
		return e.Err(ctx)
	}
	lacks := []uint64{math.MaxUint64} // the first rank without verbs, by a minimum over all ranks
	if err != nil {
		lacks[0] = uint64(rank)
		log.Info("verbs are not available", "rank", rank, "why", err)
	}
	if err := e.agree(ctx, lacks, kernels.Min, "verbs"); err != nil {
		e.closeDevice()
		return err
	}
	if lacks[0] != math.MaxUint64 {
		e.closeDevice()
		log.Info(fmt.Sprintf("transport: TCP, since rank %d cannot use verbs", lacks[0]), "rank", rank)
		return nil
	}
	log.Info("transport: verbs over "+e.cfg.Device.String(), "rank", rank)
	e.Engine.Upgrade(link.Verbs{Required: must, Open: func() (link.Stream, error) {
		s, err := e.cfg.Device.NewStream()
		if err != nil {
			return nil, err // a nil interface, not a nil *verbs.Stream
		}
		return s, nil
	}})
	return nil
}

// openDevice opens this rank's device.
func (e *Epoch) openDevice() error {
	if e.cfg.Encrypted {
		return &verbs.SetupError{Err: errors.New("verbs: their bytes cannot be encrypted by TLS")}
	}
	if !e.Engine.Driver.Upgrades() {
		return errors.New("verbs: they need bare TCP connections on Linux, and the poll loop over them")
	}
	port := e.cfg.Port
	port.Addr = e.Wiring.Address(e.cfg.Rank)
	err := e.cfg.Device.Open(port)
	if _, refused := errors.AsType[*rdma.RegistrationError](err); refused {
		e.cfg.Log.Warn("registered memory cannot be registered again, it will be copied to be sent", "rank", e.cfg.Rank, "error", err)
		return nil
	}
	return err
}

// closeDevice deregisters all memory and closes the device. No bytes may be in flight.
func (e *Epoch) closeDevice() {
	direct, copied, err := e.cfg.Device.Close()
	if direct+copied > 0 {
		e.cfg.Log.Info(fmt.Sprintf("over verbs: %d bytes sent from where they were, %d copied to be sent", direct, copied), "rank", e.cfg.Rank)
	}
	if err != nil {
		e.cfg.Log.Error("cannot close the RDMA device", "rank", e.cfg.Rank, "error", err)
	}
}
