// SPDX-License-Identifier: Apache-2.0

package straggler

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Quantile is a row of a table of hosts: this share of the hosts has at most this factor.
type Quantile struct{ Share, Factor float64 }

// Table has the times that hosts take for the same work, relative to a usual host, by quantiles in ascending order. The
// first row is the least factor, for shares below its own, too. The last share is 1. Between two rows the factor grows
// geometrically. An empty table has only usual hosts.
type Table []Quantile

// Published has the ratios of the published times of 1,000 nodes without second attempts: 5 % at most 29 s, half 34 s,
// 95 % 60 s, and the slowest 758 s.
var Published = Table{{0.05, 29.0 / 34}, {0.5, 1}, {0.95, 60.0 / 34}, {1, 758.0 / 34}}

// ParseTable parses "5:0.85,50:1,95:1.8,100:22": shares in percent and factors.
func ParseTable(text string) (Table, error) {
	var t Table
	for row := range strings.SplitSeq(text, ",") {
		share, factor, ok := strings.Cut(strings.TrimSpace(row), ":")
		percent, err1 := strconv.ParseFloat(share, 64)
		f, err2 := strconv.ParseFloat(factor, 64)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("straggler: table of hosts: got %q, want PERCENT:FACTOR", row)
		}
		t = append(t, Quantile{percent / 100, f})
	}
	return t, t.Validate()
}

// Validate reports the first fault of a table.
func (t Table) Validate() error {
	before := Quantile{}
	for i, q := range t {
		if !(q.Share > before.Share && q.Share <= 1) || !(q.Factor >= before.Factor && q.Factor > 0 && q.Factor <= 1e6) {
			return fmt.Errorf("straggler: table of hosts, row %d: got %g %% and the factor %g, want ascending shares up to 100 %% and ascending factors above 0", i+1, 100*q.Share, q.Factor)
		}
		before = q
	}
	if len(t) > 0 && before.Share != 1 {
		return fmt.Errorf("straggler: table of hosts: got %g %% in the last row, want 100", 100*before.Share)
	}
	return nil
}

// at returns the factor of a quantile.
func (t Table) at(share float64) float64 {
	i := slices.IndexFunc(t, func(q Quantile) bool { return share <= q.Share })
	switch {
	case len(t) == 0:
		return 1
	case i == 0:
		return t[0].Factor
	}
	lo, hi := t[i-1], t[i]
	return lo.Factor * math.Pow(hi.Factor/lo.Factor, (share-lo.Share)/(hi.Share-lo.Share))
}
