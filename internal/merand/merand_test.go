// SPDX-License-Identifier: Apache-2.0

package merand

import "testing"

// The recorded numbers are those that vw 9.11.9 prints with --random_weights, which are
// draws less a half, and the state that its model keeps after 16 of them.
func TestFloatAsVW(t *testing.T) {
	for _, c := range []struct {
		seed  State
		want  []float32
		after State
	}{
		{0, []float32{-0.499992, -0.451643, -0.463548, 0.207621, 0.427791}, 9179422484841000272},
		{5, []float32{-0.491488, -0.290456, 0.101572, 0.0351564, -0.0513816}, 9015157422837364885},
	} {
		s := c.seed
		for i := range 16 {
			got := s.Float() - 0.5
			if i < len(c.want) && (got-c.want[i] > 1e-6 || c.want[i]-got > 1e-6) {
				t.Errorf("seed %d, draw %d: got %v, want %v", c.seed, i+1, got, c.want[i])
			}
		}
		if s != c.after {
			t.Errorf("seed %d: after 16 draws the state is %d, want %d", c.seed, uint64(s), uint64(c.after))
		}
	}
}
