// SPDX-License-Identifier: Apache-2.0

package epoch

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// slowJob takes a minute to note that it has failed.
type slowJob struct{ *rank }

func (j slowJob) Failed() { time.Sleep(time.Minute) }

// TestEndWaitsForAFailure: a failure that has begun when the epoch ends is resolved before End returns, also in an epoch
// without connections.
func TestEndWaitsForAFailure(t *testing.T) {
	for name, ending := range map[string]bool{"an epoch with collectives": false, "an epoch that only ends the job": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newCluster(t, members.All(2), 2, nil).ranks[0]
				w := &client.Wiring{Epoch: r.wiring.Epoch, Token: r.wiring.Token, Members: r.wiring.Members, Peers: r.wiring.Peers, Ending: ending}
				e := New(r.epoch.cfg, slowJob{r})
				e.Wire(w, w.Members, true)
				e.Start()
				failed := make(chan struct{})
				go func() {
					defer close(failed)
					e.Fail(t.Context(), io.ErrUnexpectedEOF)
				}()
				synctest.Wait()
				began := time.Now()
				e.End()
				select {
				case <-e.resolved:
				default:
					t.Errorf("End has returned after %v, before the root cause was known", time.Since(began))
				}
				<-failed
				if r.Cause() == nil {
					t.Error("the failure was not reported")
				}
			})
		})
	}
}

// TestFailAfterEnd: a failure after the end of an epoch is reported, and nothing waits for its root cause.
func TestFailAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newCluster(t, members.All(2), 2, nil).ranks[0]
		w := &client.Wiring{Epoch: r.wiring.Epoch, Members: r.wiring.Members, Ending: true}
		e := New(r.epoch.cfg, r)
		e.Wire(w, w.Members, true)
		e.Start()
		e.End()
		e.Fail(t.Context(), io.ErrUnexpectedEOF)
		if r.Cause() == nil {
			t.Error("the failure was not reported")
		}
	})
}
