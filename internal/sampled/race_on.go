// SPDX-License-Identifier: Apache-2.0

//go:build race

package sampled

// UnderRace reports whether the race detector is on.
const UnderRace = true
