// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The columns of a bar: without room for the least, there is none.
const (
	leastBar = 8
	mostBar  = 30
)

// Row is the content of a line.
type Row struct {
	Label  string   // begins the line
	Share  float64  // part that is done, from 0 to 1; negative: not known, and there is no bar
	Fields []string // follow the bar, the most important first; empty ones are left out
}

// Fit returns the line for a terminal with this number of columns, at least one column shorter. In
// a narrow terminal the last fields are left out first, then the bar, and then the end of the label.
func (r Row) Fit(width int) string {
	room := max(width-1, 0)
	line := r.Label
	if r.Share >= 0 {
		line += fmt.Sprintf(" %3.0f%%", 100*math.Min(r.Share, 1))
	}
	bar := -1 // columns of the bar without its ends
	rest := ""
	for _, f := range r.Fields {
		if f != "" && columns(line)+columns(rest)+2+columns(f) <= room {
			rest += "  " + f
		}
	}
	if r.Share >= 0 {
		bar = min(room-columns(line)-columns(rest)-3, mostBar)
	}
	if bar >= leastBar {
		full := int(math.Min(r.Share, 1) * float64(bar))
		line += " [" + strings.Repeat("=", full) + strings.Repeat(" ", bar-full) + "]"
	}
	return cut(line+rest, room)
}

// columns returns the number of columns of a text of ordinary letters.
func columns(s string) int { return len([]rune(s)) }

// cut returns at most the first n letters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// Count returns a number with three digits and a unit: 12345678 is 12.3M.
func Count(n float64) string {
	if n < 1000 {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	units := "kMGTP"
	for i := range units {
		if n /= 1000; n < 999.5 || i == len(units)-1 {
			digits := 2
			if n >= 99.95 {
				digits = 0
			} else if n >= 9.995 {
				digits = 1
			}
			return strconv.FormatFloat(n, 'f', digits, 64) + units[i:i+1]
		}
	}
	return ""
}

// Left returns the time left, if the rest takes as long per part as the share that took elapsed, or "" without a share.
func Left(elapsed time.Duration, share float64) string {
	if share <= 0 {
		return ""
	}
	return "ETA " + time.Duration(float64(elapsed)*(1-math.Min(share, 1))/share).Round(time.Second).String()
}
