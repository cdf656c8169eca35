// SPDX-License-Identifier: Apache-2.0

//go:build unix

package storm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestStormWithoutReplacements: no rank is started again. Once the job runs, it continues
// without lost ranks, and every remaining rank, and no other, writes the same model. A loss
// before that, or when files are owed, or of all ranks, ends the job with an error that
// names the rank.
func TestStormWithoutReplacements(t *testing.T) {
	kinds := []string{"exit", "kill", "stop", "two killed", "SIGKILL", "SIGSTOP"}
	continued, ended := 0, 0
	storm(t, max(jobs/4, 2*uint64(len(kinds))), "shrink", kinds, func(o outcome, whole []byte) string {
		for rank, model := range o.models {
			if !bytes.Equal(model, o.model) {
				return fmt.Sprintf("rank %d has another model", rank)
			}
		}
		switch {
		case o.code != 0 && (!strings.HasPrefix(o.last, "gvw: ") || !strings.Contains(o.last, "rank ")):
			return fmt.Sprintf("exit code %d, and its last line names no rank: %s", o.code, o.last)
		case o.code != 0:
			ended++
			return ""
		case len(o.gone) == 0 && !bytes.Equal(o.model, whole):
			return "no rank was lost permanently, and the model is another one"
		}
		for rank := range workers {
			if _, there := o.models[rank]; there == slices.Contains(o.gone, rank) {
				return fmt.Sprintf("the job has continued without ranks %v: rank %d has a model: %v", o.gone, rank, there)
			}
		}
		continued += min(len(o.gone), 1)
		return ""
	})
	t.Logf("%d jobs have continued without a rank, %d were ended by a loss", continued, ended)
	if continued == 0 && !testing.Short() && !t.Failed() && number(t, "STORM_ONLY", 0) == 0 {
		t.Error("no job has continued without a rank")
	}
}
