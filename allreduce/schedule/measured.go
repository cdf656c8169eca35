// SPDX-License-Identifier: Apache-2.0

package schedule

import "strings"

// crowd is up to how many ranks Pick thinks of ranks that share a host: more do not
// share two processors.
const crowd = 8

// letters of the schedules, in the order of their numbers.
const letters = "?DHRTBXV"

// Letter is the schedule's in tables.
func (n Name) Letter() byte { return letters[n] }

// measured says which schedules are good where 2 to 8 ranks share a host of two
// processors: those within 10 % of the fastest, by gvw bench allreduce --checksum off. No
// formula that we have tried says it as well: processes, caches and sockets
// meet there. bench/picks makes the table; bench/README.md has the figures behind it.
var measured = [...]struct {
	bytes int // and sizes to which it is the nearest, by their logarithms
	good  [crowd - 1]string
}{
	{4, [...]string{"D", "DT", "X", "TX", "DTBX", "T", "X"}},
	{1024, [...]string{"D", "DT", "TX", "TX", "DTX", "T", "X"}},
	{16384, [...]string{"D", "D", "X", "TX", "DTX", "TX", "X"}},
	{65536, [...]string{"DRB", "DTBX", "DTBX", "TX", "DTBX", "DT", "TX"}},
	{131072, [...]string{"DHRB", "RT", "B", "TB", "DTB", "DTB", "B"}},
	{262144, [...]string{"DHRBX", "R", "HRB", "RT", "R", "DHRTB", "T"}},
	{524288, [...]string{"DHRBX", "RT", "RTB", "R", "R", "HRB", "R"}},
	{1048576, [...]string{"DHRBX", "DT", "HR", "R", "HRTB", "R", "R"}},
	{2097152, [...]string{"DHRBX", "D", "HRTBX", "HRTX", "HB", "HRTBX", "HX"}},
	{4194304, [...]string{"DHRTBX", "DHR", "HTB", "HRTBX", "RB", "HRTX", "HRTBX"}},
	{16777216, [...]string{"HRBX", "HRTBX", "HRBX", "HRB", "HTBX", "TB", "HTB"}},
}

// goodOnHost are the letters of the schedules that are good on one host.
func (s Spec) goodOnHost() string {
	if s.Size > crowd {
		return letters
	}
	row := &measured[0]
	for i := range measured[1:] {
		// The border of two sizes is their geometric mean.
		if lower, upper := &measured[i], &measured[i+1]; float64(s.Bytes)*float64(s.Bytes) > float64(lower.bytes)*float64(upper.bytes) {
			row = upper
		}
	}
	good := row.good[s.Size-2]
	if !strings.ContainsFunc(good, func(r rune) bool { return s.may(Name(strings.IndexRune(letters, r))) }) {
		return letters // none keeps the order that is asked for
	}
	return good
}
