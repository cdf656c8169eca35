// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// shrink lets a job that does not wait for replacements go on without the
// ranks that were lost, when the others have said how far they are. One for which
// a standby is READY is replaced all the same. Once a rank is COMPLETE it is too
// late: the lost ranks may owe files, of which nobody else knows.
func (m *Machine) shrink(j *job) {
	if j.policy != protocol.Shrink {
		return
	}
	for _, r := range sortedRanks(j.losses.vacant) {
		a := j.holders[r]
		if a != nil && a.ready {
			continue
		}
		if a != nil {
			j.clearHolder(a)
			m.standBy(a)
		}
		delete(j.losses.vacant, r)
		assign(&j.removed, r, true)
		j.losses.shrunk = protocol.Epoch{Term: j.epoch.Term, N: j.epoch.N + 1}
		m.log(slog.LevelWarn, "job goes on without a rank", slog.String("job", j.id.String()), slog.Int("rank", r))
		m.tellStandbys(j, r)
	}
	if len(j.holders) == 0 {
		m.fail(j, j.lastEnd.cause)
	}
}
