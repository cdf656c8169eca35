// SPDX-License-Identifier: Apache-2.0

package ect

import "testing"

// Every class can win, whatever the number of classes and losses; each match and final has a learner
// of its own.
func TestEveryClassCanWin(t *testing.T) {
	t.Parallel()
	for classes := 2; classes < 40; classes++ {
		for losses := 1; losses < 6; losses++ {
			c := newTournaments(classes, losses)
			if got, want := len(c.matches)-classes, c.firstFinal; got > want {
				t.Fatalf("%d classes, %d losses: %d matches, and learners of %d", classes, losses, got, want)
			}
			if len(c.finals) != losses {
				t.Fatalf("%d classes: %d finals, want %d", classes, len(c.finals), losses)
			}
			won := make([]bool, classes)
			var down func(at int)
			down = func(at int) {
				if at < classes {
					won[at] = true
					return
				}
				down(c.matches[at].left)
				down(c.matches[at].right)
			}
			down(c.finals[0])
			for k, ok := range won {
				if !ok {
					t.Errorf("%d classes, %d losses: class %d cannot win the first tournament", classes, losses, k)
				}
			}
		}
	}
}
