// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"strings"
)

// head returns the heading of the table.
func (pl *plan) head() string {
	resource := ""
	if pl.header.Resource != "" {
		resource = fmt.Sprintf("%10s", pl.header.Resource)
	}
	return fmt.Sprintf("%5s%s %12s %9s  %s", "trial", resource, "loss", "seconds", "options")
}

// row returns a line of the table.
func (pl *plan) row(o outcome) string {
	resource, loss, why := "", "failed", ""
	if pl.header.Resource != "" {
		resource = fmt.Sprintf("%10d", o.Resource)
	}
	if o.Loss != nil {
		loss = fmt.Sprintf("%.6f", *o.Loss)
	} else {
		why = "  (" + o.Error + ")"
	}
	var options []string
	for _, d := range pl.space {
		options = append(options, d.Name+"="+o.Options[d.Name])
	}
	return fmt.Sprintf("%5d%s %12s %9.2f  %s%s", o.Trial, resource, loss, o.Seconds, strings.Join(options, " "), why)
}

// table returns the table of all jobs, best first.
func (pl *plan) table(all []outcome) string {
	var b strings.Builder
	b.WriteString(pl.head() + "\n")
	for _, o := range ordered(all) {
		b.WriteString(pl.row(o) + "\n")
	}
	return b.String()
}
