// SPDX-License-Identifier: Apache-2.0

package core

import (
	"log/slog"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// shrink removes the lost ranks of a job that does not wait for replacements, when the others have
// answered EPOCH_END. A rank with a READY standby is replaced nevertheless. After the first
// COMPLETE no rank is removed: only the lost rank knew its files.
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
		m.log(slog.LevelWarn, "job continued without a rank", slog.String("job", j.id.String()), slog.Int("rank", r))
		m.tellStandbys(j, r)
	}
	if len(j.holders) == 0 {
		m.fail(j, j.lastEnd.cause)
	}
}
