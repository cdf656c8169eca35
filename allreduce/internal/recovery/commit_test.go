// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// sourceJob is a job of a rank that takes the results of its step from a source that has them.
type sourceJob struct {
	*attempt
	wiring *client.Wiring
	ended  chan struct{}
}

func (j *sourceJob) Current() (*client.Wiring, members.Set) { return j.wiring, members.All(2) }
func (j *sourceJob) Server() Server                         { return j }
func (j *sourceJob) Ended(*client.Wiring) <-chan struct{}   { return j.ended }
func (j *sourceJob) Over() <-chan struct{}                  { return nil }
func (j *sourceJob) Next(context.Context, *client.Wiring) (*client.Wiring, error) {
	return nil, errors.New("the next epoch is entered")
}

func (j *sourceJob) Pull(_ context.Context, _ *client.Wiring, _ int, _ string, take func(net.Conn) error) error {
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		defer there.Close()
		if _, err := there.Read(make([]byte, requestSize)); err != nil {
			return
		}
		out := &frameWriter{c: there, patience: time.Minute}
		if _, err := out.Write(binary.LittleEndian.AppendUint64(nil, 7)); err == nil {
			_ = out.frame(frameEnd, nil) // the reader reports it
		}
	}()
	return take(here)
}

// fullDisk is a machine whose Commit writes a file, and fails.
type fullDisk struct {
	machine
	commits int
	end     func() // called by Commit
}

var errFullDisk = errors.New("no space left on device")

func (m *fullDisk) Commit() error {
	m.commits++
	m.end()
	return errFullDisk
}

// TestCommitOfTakenResultsFails checks that the error of a Commit of results from another rank ends the
// step, also if the epoch ends meanwhile. The step is completed and its state half changed, so it must
// not be committed again, nor be exchanged again as the next one.
func TestCommitOfTakenResultsFails(t *testing.T) {
	for _, over := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(1, 0, 1)
			w.runners.Wait()
			j := &sourceJob{attempt: w.newAttempt(0, 2), ended: make(chan struct{})}
			now := protocol.Epoch{Term: 1, N: 2}
			j.wiring = &client.Wiring{
				Epoch: now, Resume: client.Point{Epoch: now, Step: 1}, Members: members.All(2),
				Missing: &client.Missing{Rank: 0, Source: 1, Payload: protocol.PayloadResults},
			}
			m := &fullDisk{machine: machine{w: w}, end: func() {
				if over {
					close(j.ended)
				}
			}}
			s := New(Config{Rank: 0, Total: 2, Stall: 10 * time.Second, Log: slog.New(slog.DiscardHandler)}, j)
			s.SetRecovers(true)
			s.SetState(m)
			s.Begin(j.wiring)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			moved, err := s.resume(ctx)
			if moved || !errors.Is(err, errFullDisk) || m.commits != 1 {
				t.Errorf("epoch over %v: got %v, %v after %d commits, want %v after one", over, moved, err, m.commits, errFullDisk)
			}
		})
	}
}
