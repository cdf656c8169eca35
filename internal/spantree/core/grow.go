// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"log/slog"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// A job that grows shrinks at a loss, and takes back ranks that it runs without: lost ones, and
// excluded ones that join late. Their attempts are standbys until they are READY. Then they end the
// epoch, and are members of the next one, in which they fetch the state.

// shrinks reports whether the job continues without lost ranks.
func (j *job) shrinks() bool { return j.policy == protocol.Shrink || j.grows() }

// grows reports whether the job takes back ranks that it runs without.
func (j *job) grows() bool { return j.policy == protocol.Grow }

// grow takes back all ranks that have a READY standby.
func (m *Machine) grow(j *job) {
	if !j.grows() || len(j.removed) == 0 || j.phase != wired && j.phase != recovering || m.inGracePeriod(j) {
		return
	}
	var first *attempt
	for _, r := range sortedRanks(j.removed) {
		for _, a := range j.standbys[r] {
			if !a.ready {
				continue
			}
			delete(j.removed, r)
			m.takeRank(a)
			m.notifyStandbys(j, r)
			m.log(slog.LevelInfo, "job continued with another rank", a.attrs()...)
			if first == nil {
				first = a
			}
			break
		}
	}
	if first == nil {
		return
	}
	m.endEpoch(j, protocol.Cause{
		Kind: protocol.CauseHandover, Rank: first.rank, Host: first.host,
		Why: fmt.Sprintf("rank %d (%s) joins the running job", first.rank, first.host),
	})
	m.advance(j)
}
