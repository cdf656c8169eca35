// SPDX-License-Identifier: Apache-2.0

package output

import "github.com/gvw-project/gvw/learn/internal/vwtext"

// Console prints vw's table, trace and summary. The log is delayed while the table is open.
type Console struct {
	Table   *vwtext.Table // Table.Out is nil if the run is quiet
	Hold    *Hold
	MidLine bool // the last text did not end its line
}

// OpenTable prints the header of the table, and delays the log until the summary.
func (c *Console) OpenTable() error {
	if c.Table.Out != nil {
		c.Hold.begin()
	}
	return c.Table.Head()
}

// Print prints text, unless the run is quiet.
func (c *Console) Print(text []byte) error {
	if c.Table.Out == nil || len(text) == 0 {
		return nil
	}
	c.MidLine = text[len(text)-1] != '\n'
	_, err := c.Table.Out.Write(text)
	return err
}
