// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"io"
	"testing"
	"time"
)

// A worker that has ended first is the cause, although a process that it has left behind holds its output open.
func TestTheFirstEndIsTheCauseWhateverHoldsTheOutput(t *testing.T) {
	cmds := workers("exit 9 500", "leave 7 2000")
	cmds[1].Stdout, cmds[1].WaitDelay = io.Discard, time.Minute
	results, root, err := Job{Symptom: func(int) bool { return true }, Settle: time.Minute}.Run(t.Context(), cmds)
	if err != nil || root != 1 || results[1].Code != 7 || results[1].After >= results[0].After {
		t.Errorf("root %d, %+v; %v, want rank 1", root, results, err)
	}
}
