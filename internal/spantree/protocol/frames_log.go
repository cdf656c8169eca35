// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/wire"
)

// LogFrame (LOG) has lines of the log of a rank. A server without LOG skips the frame.
type LogFrame struct {
	ranklog.Batch
}

func (f *LogFrame) code(c *wire.Coder) {
	c.U64("dropped", &f.Dropped)
	c.Texts("lines", ranklog.MaxLines, ranklog.MaxLine, &f.Lines)
}

// LogRequestFrame (LOG_REQUEST) asks for the last lines of ranks, instead of STATUS. STATUS follows it, for servers
// without LOG_REQUEST, which answer that.
type LogRequestFrame struct {
	UniqueID uint64
	RunKey   string
	Rank     int    // -1: all
	Lines    uint32 // of each rank
}

func (f *LogRequestFrame) code(c *wire.Coder) {
	c.U64("unique_id", &f.UniqueID)
	c.Text("run_key", MaxRunKey, &f.RunKey)
	c.Rank("rank", &f.Rank)
	c.U32("lines", &f.Lines)
}

// LogsFrame (LOGS) answers LOG_REQUEST.
type LogsFrame struct {
	JSON string // list of [ranklog.RankLog], by rank
}

func (f *LogsFrame) code(c *wire.Coder) { c.Text("json", MaxPayload-4, &f.JSON) }
