// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// TestFromServer: an error of the server's client keeps its text and its types, and is a *LostError
// too if a rank was lost.
func TestFromServer(t *testing.T) {
	cause := &protocol.LostError{Rank: 7, Host: "h7", Why: "silent for 10 s", ServerRestarted: true}
	wrapped := fmt.Errorf("the job does not start: %w", cause)
	err := FromServer(3, wrapped)
	lost, ok := errors.AsType[*LostError](err)
	if !ok || err.Error() != wrapped.Error() {
		t.Fatalf("got %v (%T), want the text %q and a LostError", err, err, wrapped)
	}
	want := &LostError{Where: Where{Rank: 3}, Rank: 7, Host: "h7", Why: "silent for 10 s", ServerRestarted: true, Err: cause}
	if *lost != *want {
		t.Error(cmp.Diff(want, lost))
	}
	if got, ok := errors.AsType[*protocol.LostError](err); !ok || got != cause {
		t.Errorf("got %v, want the server's error", got)
	}
	for _, other := range []error{nil, io.EOF, &protocol.RefusedError{Reason: "full"}} {
		if got := FromServer(3, other); got != other {
			t.Errorf("got %v, want %v unchanged", got, other)
		}
	}
}

// TestPublicErrors: each failure becomes the documented error of a rank.
func TestPublicErrors(t *testing.T) {
	w := Where{Rank: 3}
	restarted := &protocol.LostError{Rank: 7, ServerRestarted: true}
	for _, c := range []struct {
		name string
		f    Failure
		want string
		is   func(error) bool
	}{
		{
			"lost",
			Failure{Code: FaultLost, Rank: 7, Host: "h7", Text: "its connection ended"},
			"rank 3: lost rank 7 (h7): its connection ended",
			func(err error) bool { e, ok := err.(*LostError); return ok && !e.GaveUp },
		},
		{
			"lost, with the server's cause",
			Failure{Code: FaultLost, Rank: 7, Host: "h7", Text: "gone", Err: restarted},
			"rank 3: lost rank 7 (h7): gone",
			func(err error) bool { e, ok := err.(*LostError); return ok && e.ServerRestarted && e.Err == restarted },
		},
		{
			"another rank gave up",
			Failure{Code: FaultGaveUp, Rank: 7, Host: "h7", Text: "disk full"},
			"rank 3: given up by rank 7 (h7): disk full",
			func(err error) bool { e, ok := err.(*LostError); return ok && e.GaveUp },
		},
		{
			"this rank gave up",
			Failure{Code: FaultGaveUp, Rank: 3, Text: "EOF", Err: io.EOF},
			"rank 3: EOF",
			func(err error) bool { return errors.Is(err, io.EOF) },
		},
		{
			"the epoch is over",
			Failure{Code: FaultOver, Err: io.EOF},
			"rank 3: the epoch is over: EOF",
			func(err error) bool { _, ok := err.(*InterruptedError); return ok && errors.Is(err, io.EOF) },
		},
		{
			"a vw worker left",
			Failure{Code: FaultLeft, Rank: 1, Host: "h1"},
			"rank 3: rank 1 (h1): allreduce: a vw worker left after the last pass",
			func(err error) bool { return errors.Is(err, ErrLeft) },
		},
	} {
		if err := c.f.Public(w); err.Error() != c.want || !c.is(err) {
			t.Errorf("%s: got %v (%T), want %s", c.name, err, err, c.want)
		}
	}
}
