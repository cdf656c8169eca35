// SPDX-License-Identifier: Apache-2.0

package resume

// Path is the knowledge about the network from a source to a rank.
type Path int

const (
	Clear   Path = iota // no fault is known
	Suspect             // an edge between the hosts was charged; a new attempt has no charges, but its host may have
	CutOff              // the rank has reported that it gets nothing from the source
)

// Paths returns the path from a source to a rank.
type Paths func(rank, source int) Path

// Source returns the best source for a rank: one with a clear path, then one that has the results of
// its step, then the lowest. It returns false if the rank is cut off from all of them. sources are
// in the order of their ranks.
func Source(rank int, sources []Member, paths Paths) (best Member, ok bool) {
	var bestPath Path
	for _, m := range sources {
		switch path := paths(rank, m.Rank); {
		case path == CutOff:
		case !ok, path < bestPath, path == bestPath && m.HasResults() && !best.HasResults():
			best, bestPath, ok = m, path, true
		}
	}
	return best, ok
}

// usualSource returns the source for ranks with clear paths.
func usualSource(at []Member) Member {
	best, _ := Source(-1, at, func(int, int) Path { return Clear })
	return best
}
