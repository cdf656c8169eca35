// SPDX-License-Identifier: Apache-2.0

package statusline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
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
		if f != "" && runewidth.StringWidth(line+rest)+2+runewidth.StringWidth(f) <= room {
			rest += "  " + f
		}
	}
	if r.Share >= 0 {
		bar = min(room-runewidth.StringWidth(line)-runewidth.StringWidth(rest)-3, mostBar)
	}
	if bar >= leastBar {
		line += " " + draw(r.Share, bar)
	}
	return runewidth.Truncate(line+rest, room, "")
}

// draw returns a bar with this number of columns between its ends.
func draw(share float64, columns int) string {
	const whole = 1 << 20
	var b strings.Builder
	style := mpb.BarStyle().Filler("=").Tip("").Padding(" ")
	// A strings.Builder returns no errors.
	_ = style.Build().Fill(&b, decor.Statistics{AvailableWidth: columns + 2, Total: whole, Current: int64(math.Min(share, 1) * whole)})
	return b.String()
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
