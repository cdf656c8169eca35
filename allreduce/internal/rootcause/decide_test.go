// SPDX-License-Identifier: Apache-2.0

package rootcause

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce/internal/engine"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const self = 3 // this rank in all tests

func TestActionFor(t *testing.T) {
	own := func(f engine.Failure) *engine.Failure { f.By = self; return &f }
	theirs := func(f engine.Failure) *engine.Failure { f.By = 1; return &f }
	broken := engine.Failure{Code: engine.FaultLost, Rank: 1, Ask: protocol.EdgeBroke}
	corrupt := engine.Failure{Code: engine.FaultGaveUp, Rank: self, Ask: protocol.EdgeCorrupts, Far: 1}
	gaveUp := engine.Failure{Code: engine.FaultGaveUp, Rank: self}
	for _, c := range []struct {
		name              string
		f                 *engine.Failure
		without, recovers action
	}{
		{"a vw worker has left", theirs(engine.Failure{Code: engine.FaultLeft}), accept, accept},
		{"the server has ended the epoch", theirs(engine.Failure{Code: engine.FaultOver}), accept, accept},
		{"an edge of this rank broke", own(broken), ask, arbitrate},
		{"another rank lost an edge", theirs(broken), ask, arbitrate},
		{"this rank gives up", own(gaveUp), report, report},
		{"another rank gave up", theirs(gaveUp), ask, arbitrate},
		{"the server reports that a rank gave up", &engine.Failure{Code: engine.FaultGaveUp, By: byServer}, ask, arbitrate},
		{"this rank got corrupt bytes", own(corrupt), report, arbitrate},
		{"another rank got corrupt bytes", theirs(corrupt), ask, arbitrate},
	} {
		if got := actionFor(c.f, self, false); got != c.without {
			t.Errorf("%s: got action %d, want %d", c.name, got, c.without)
		}
		if got := actionFor(c.f, self, true); got != c.recovers {
			t.Errorf("%s, in a job that recovers: got action %d, want %d", c.name, got, c.recovers)
		}
	}
}

// stalled is a failure as rank by sends it: no byte moved between it and rank.
func stalled(by, rank uint32) []byte {
	b := make([]byte, 24)
	b[0] = 2
	binary.LittleEndian.PutUint32(b[4:], by)
	binary.LittleEndian.PutUint32(b[8:], rank)
	return b
}

func TestFailureOf(t *testing.T) {
	lost := &protocol.LostError{Rank: 7, Host: "h7", Why: "silent for 10 s"}
	gaveUp := &protocol.LostError{Rank: 7, Host: "h7", Why: "disk full", GaveUp: true}
	detailed := &protocol.LostError{Rank: 7, Host: "h7", Why: "no byte moved", GaveUp: true, Detail: string(stalled(7, 2))}
	wrong := &protocol.LostError{Rank: 7, Why: "x", GaveUp: true, Detail: "not a failure"}
	refused := &protocol.RefusedError{Reason: "another attempt has the rank"}
	for _, c := range []struct {
		name  string
		cause error
		want  engine.Failure
	}{
		{"lost", lost, engine.Failure{Code: engine.FaultLost, By: byServer, Rank: 7, Host: "h7", Text: "silent for 10 s", Err: lost}},
		{"gave up", gaveUp, engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: 7, Host: "h7", Text: "disk full", Err: gaveUp}},
		{"gave up, with details", detailed, engine.Failure{Code: 2, By: 7, Rank: 2, Err: detailed}},
		{"gave up, with details that cannot be decoded", wrong, engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: 7, Text: "x", Err: wrong}},
		{"refused", refused, engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: byServer, Text: refused.Error(), Err: refused}},
	} {
		if diff := cmp.Diff(c.want, *failureOf(c.cause), cmpopts.IgnoreUnexported(engine.Failure{}), cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestChoose(t *testing.T) {
	seen := &engine.Failure{Code: engine.FaultGaveUp, By: 7, Rank: 7, Text: "disk full: /data", Err: errors.New("disk full")}
	broken := &engine.Failure{Code: engine.FaultLost, By: self, Rank: 4, Ask: protocol.EdgeBroke}
	lost := &protocol.LostError{Rank: 7, Why: "silent for 10 s"}
	gaveUp := &protocol.LostError{Rank: 7, Why: "disk full", GaveUp: true}
	for _, c := range []struct {
		name   string
		seen   *engine.Failure
		server error
		same   bool // seen is chosen
	}{
		{"the job is not over", broken, nil, true},
		{"the server repeats what the rank has sent", seen, gaveUp, true},
		{"the rank that gave up was lost", seen, lost, false},
		{"another rank gave up first", broken, gaveUp, false},
		{"another rank was lost first", broken, lost, false},
		{"the job was cancelled", seen, &protocol.RefusedError{}, false},
		{"the job was cancelled, which a neighbour has reported before", &engine.Failure{Code: engine.FaultGaveUp, By: byServer, Rank: byServer}, &protocol.RefusedError{}, false},
	} {
		if got := choose(c.seen, c.server); (got == c.seen) != c.same {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

// TestAllRanksChooseOneCause: ranks that have seen different failures choose the server's cause, so
// their errors name one rank.
func TestAllRanksChooseOneCause(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lost := rapid.IntRange(0, 7).Draw(rt, "lost")
		cause := &protocol.LostError{Rank: lost, Why: "gone", GaveUp: rapid.Bool().Draw(rt, "gave up")}
		for rank := range 8 {
			seen := &engine.Failure{Code: engine.FaultLost, By: rank, Rank: rapid.IntRange(0, 7).Draw(rt, "peer"), Ask: protocol.EdgeBroke}
			if rapid.Bool().Draw(rt, "from the lost rank") {
				seen = &engine.Failure{Code: engine.FaultGaveUp, By: lost, Rank: lost}
			}
			if rank == lost {
				continue
			}
			if got := choose(seen, cause); got.Rank != lost {
				rt.Fatalf("rank %d saw %+v and reports rank %d, want %d", rank, seen, got.Rank, lost)
			}
		}
	})
}
