// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
)

// TestStallWithoutServer checks that a wait ends and names the rank and the server when the
// server is lost and a rank's connections carry nothing more.
func TestStallWithoutServer(t *testing.T) {
	const n, silent = 7, 6
	const limit = 20 * time.Second
	for _, onLoss := range []OnLoss{Abort, Wait} {
		t.Run(onLoss.String(), func(t *testing.T) {
			inBubble(t, n, Config{ServerTimeout: limit, Stall: 5 * time.Second, OnLoss: onLoss}, func(t *testing.T, j *testJob, net *mem.Network) {
				j.ready()
				net.Hold("server", true) // so that it reports no loss
				net.Cut("server")
				time.Sleep(3 * time.Second)
				net.Hold(fmt.Sprintf("h%d", silent), true)
				start := time.Now()
				errs := j.all(func(rank int) error { return forever(j.groups[rank], 1000) })
				named := false
				for rank, err := range errs {
					lost, ok := errors.AsType[*LostError](err)
					if ok && rank != silent && lost.Rank != silent {
						// That rank has noticed first, and a reset has overtaken its reason: no server tells the root cause.
						first, alsoLost := errors.AsType[*LostError](errs[lost.Rank])
						ok = alsoLost && first.Rank == silent && strings.Contains(err.Error(), "its connection broke")
					}
					if !ok {
						t.Errorf("rank %d: got %v, want the loss of rank %d", rank, err, silent)
						continue
					}
					named = named || strings.Contains(err.Error(), "the server is lost: ")
				}
				if !named { // the others may have seen how the first one ended its connections
					t.Errorf("no rank names the server: %v", errs)
				}
				took, most := time.Since(start), limit+5*time.Second
				if onLoss == Wait { // it tries to reach the server for as long before
					most += limit
				}
				if took < limit-3*time.Second || took > most {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
