// SPDX-License-Identifier: Apache-2.0

package ect

import "math/bits"

// match is a node of the tournaments: a class, or a match between the winners or losers of others.
type match struct {
	tournament    int  // number of losses so far
	winner, loser int  // the next matches of both; 0: none
	left, right   int  // who plays
	last          bool // the last match of its tournament
}

// tournaments are the matches of classes. Classes come first in matches, and the learner of a match
// has its number less the number of classes. The finals follow.
type tournaments struct {
	classes    int
	losses     int // after which a class is out: the number of tournaments
	matches    []match
	finals     []int // the last match of each tournament
	firstFinal int   // number of the first learner of the finals
	height     int   // of the binary finals
	learners   int
}

// newTournaments draws up the matches, in vw's order, level by level: the winner of a match stays in
// its tournament, and the loser moves to the next one.
func newTournaments(classes, losses int) *tournaments {
	t := &tournaments{classes: classes, losses: losses, learners: 1}
	if classes < 2 {
		return t
	}
	level := make([][]int, losses)
	for k := range classes {
		t.matches = append(t.matches, match{})
		level[0] = append(level[0], k)
	}
	for !empty(level) {
		next := make([][]int, losses)
		for i, players := range level {
			for j := 0; j+1 < len(players); j += 2 {
				last := len(players) == 2 && (i == 0 || len(level[i-1]) == 0)
				id := t.add(i, players[j], players[j+1], last)
				if !last {
					next[i] = append(next[i], id)
				} else if i+1 < losses {
					next[i+1] = append(next[i+1], id)
				}
				if i+1 < losses {
					next[i+1] = append(next[i+1], id)
				}
			}
			if n := len(players); n%2 == 1 {
				next[i] = append(next[i], players[n-1])
			}
		}
		level = next
	}
	t.firstFinal = (classes - 1) * losses
	t.height = bits.Len(uint(losses - 1))
	t.learners = t.firstFinal + losses - 1
	return t
}

// add adds a match of tournament i, and returns its number.
func (t *tournaments) add(i, left, right int, last bool) int {
	id := len(t.matches)
	t.matches = append(t.matches, match{tournament: i, left: left, right: right, last: last})
	for _, player := range [2]int{left, right} {
		if m := &t.matches[player]; m.tournament == i {
			m.winner = id
		} else {
			m.loser = id
		}
	}
	if t.matches[left].last {
		t.matches[left].winner = id
	}
	if last {
		t.finals = append(t.finals, id)
	}
	return id
}

func empty(level [][]int) bool {
	for _, players := range level {
		if len(players) > 0 {
			return false
		}
	}
	return true
}
