// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"testing"

	"github.com/gvw-project/gvw/internal/invariant"
)

// sampled returns all cases, and in the short form every n-th one, from the i-th.
func sampled[T any](t *testing.T, all []T, i, n int) (some []T) {
	t.Helper()
	if !testing.Short() {
		return all
	}
	t.Logf("sampled: one of %d cases", n)
	for ; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// underRace returns all cases, and under the race detector every n-th one, from the i-th, since each takes ten times as
// long there. All of them run without it.
func underRace[T any](t *testing.T, all []T, i, n int) (some []T) {
	t.Helper()
	if !invariant.Enabled {
		return all
	}
	t.Logf("left out: all but one of %d cases", n)
	for ; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
