// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/gvw-project/gvw/learn/internal/vwtext"

// console is where vw's table, trace and summary go. The log is held while the table is
// open.
type console struct {
	table   *vwtext.Table // Table.Out nil: the run is quiet
	hold    *hold
	midLine bool // what was written last is no whole line
}

// openTable prints the header of the table, and holds the log until the summary.
func (c *console) openTable() error {
	if c.table.Out != nil {
		c.hold.begin()
	}
	return c.table.Head()
}

// say prints text, unless the run is quiet.
func (c *console) say(text []byte) error {
	if c.table.Out == nil || len(text) == 0 {
		return nil
	}
	c.midLine = text[len(text)-1] != '\n'
	_, err := c.table.Out.Write(text)
	return err
}
