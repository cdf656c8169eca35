// SPDX-License-Identifier: Apache-2.0

package schedule

import "strings"

// maxHostRanks is the largest number of ranks for which Pick uses the measurements on one host.
// More ranks are unlikely to share two processors.
const maxHostRanks = 8

// letters are the abbreviations of the schedules, in the order of their numbers.
const letters = "?DHRTBXV"

// Letter returns the abbreviation of the schedule in tables.
func (n Name) Letter() byte { return letters[n] }

// measured lists the schedules that are fast where 2 to 8 ranks share a host with two
// processors: those within 10 % of the fastest, by gvw bench allreduce --checksum off. No
// formula that was tried predicts them as well, because scheduling, caches and socket
// buffers interact. bench/picks makes the table; bench/README.md has the measurements.
var measured = [...]struct {
	bytes int                      // and sizes that are nearest to it on a logarithmic scale
	good  [maxHostRanks - 1]string // by Size-2: letters of schedules
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

// goodOnHost returns the letters of the schedules that are fast on one host.
func (s Spec) goodOnHost() string {
	if s.Size > maxHostRanks {
		return letters
	}
	row := &measured[0]
	for i := range measured[1:] {
		// The border between two sizes is their geometric mean.
		if lower, upper := &measured[i], &measured[i+1]; float64(s.Bytes)*float64(s.Bytes) > float64(lower.bytes)*float64(upper.bytes) {
			row = upper
		}
	}
	good := row.good[s.Size-2]
	if !strings.ContainsFunc(good, func(r rune) bool { return s.allows(Name(strings.IndexRune(letters, r))) }) {
		return letters // none keeps the order that Ordered requires
	}
	return good
}
