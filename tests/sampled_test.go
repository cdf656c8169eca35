// SPDX-License-Identifier: Apache-2.0

package tests

import "testing"

// oneOfEach returns all cases, and in the short form the first one of each kind.
func oneOfEach[T any](t *testing.T, all []T, kind func(T) string) (some []T) {
	t.Helper()
	if !testing.Short() {
		return all
	}
	seen := map[string]bool{}
	for _, c := range all {
		if k := kind(c); !seen[k] {
			seen[k] = true
			some = append(some, c)
		}
	}
	t.Logf("sampled: %d of %d cases, one of each kind", len(some), len(all))
	return some
}
