// SPDX-License-Identifier: Apache-2.0

package edges

// The end of a charged edge to evict is a function of the graph of charged edges. Either the
// network of one host is broken, or the network between two hosts. In the first case the attempt on
// that host is an end of several bad edges, and each of its peers is an end of one. In the second
// case the ends do not differ.

// Evictee returns the end of a charged edge that must be evicted; nil if both stay. unopened are
// the connections that have not opened in the epoch; charges include the new one; open counts the
// connections of each attempt that have opened in the epoch.
//
// An end of two or more bad edges is evicted at once, if each of its peers is an end of fewer. This
// holds for unopened connections first, then for charged edges. The second charge on an edge evicts
// the end with more unopened connections, else with fewer open ones, else with more charged edges,
// else with more charges, else ends[1].
func Evictee[A comparable](ends [2]A, unopened, charges [][2]A, open map[A]int) *A {
	lacking, charged := peersOf(append(unopened[:len(unopened):len(unopened)], ends)), peersOf(charges)
	for _, bad := range []map[A]map[A]bool{lacking, charged} {
		for i := range ends {
			if outnumbers(bad, ends[i]) {
				return &ends[i]
			}
		}
	}
	// Neither end stands out. One charge may be a transient fault, so the edge gets a second try.
	same := 0 // charges on this edge, the new one included
	total := map[A]int{}
	for _, c := range charges {
		total[c[0]]++
		total[c[1]]++
		if c == ends || c == [2]A{ends[1], ends[0]} {
			same++
		}
	}
	if same < 2 {
		return nil
	}
	for _, count := range []func(A) int{
		func(a A) int { return len(lacking[a]) },
		func(a A) int { return -open[a] },
		func(a A) int { return len(charged[a]) },
		func(a A) int { return total[a] },
	} {
		if count(ends[0]) > count(ends[1]) {
			return &ends[0]
		} else if count(ends[0]) < count(ends[1]) {
			break
		}
	}
	return &ends[1]
}

// peersOf returns the distinct peers of each end of the edges.
func peersOf[A comparable](edges [][2]A) map[A]map[A]bool {
	peers := map[A]map[A]bool{}
	for _, e := range edges {
		for i, a := range e {
			if peers[a] == nil {
				peers[a] = map[A]bool{}
			}
			peers[a][e[1-i]] = true
		}
	}
	return peers
}

// outnumbers reports whether a has two or more peers, and each of them has fewer.
func outnumbers[A comparable](peers map[A]map[A]bool, a A) bool {
	for b := range peers[a] {
		if len(peers[b]) >= len(peers[a]) {
			return false
		}
	}
	return len(peers[a]) > 1
}
