// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/json"

	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const (
	// faultLines is the number of the last lines of each rank in the report of a fault.
	faultLines = 20
	// faultLogBytes limits the lines of all ranks in it.
	faultLogBytes = 1 << 20
	// logsBytes limits the lines in a LOGS, such that their JSON fits into the frame: it needs at most 6 bytes for one.
	logsBytes = protocol.MaxPayload / 8
)

// LogsRequested is a LOG_REQUEST.
type LogsRequested struct {
	Conn    ConnID
	Request *protocol.LogRequestFrame
}

func (LogsRequested) event() {}

// onLog keeps the lines of a rank. A spare without a rank sends none.
func (m *Machine) onLog(a *attempt, f *protocol.LogFrame) {
	if a.rank >= 0 {
		m.logs.Add(a.job.id, a.job.total, a.rank, a.number, a.host, f.Batch, m.wall)
	}
}

// Log returns the last lines of a rank of a job that runs or has ended, at most n. ok is false if there are none.
func (m *Machine) Log(job protocol.Job, rank, n int) (log ranklog.RankLog, ok bool) {
	return m.logs.Tail(job, rank, n)
}

// onLogs answers LOG_REQUEST with LOGS, the only frame of its connection.
func (m *Machine) onLogs(ev LogsRequested) {
	r := ev.Request
	id, all := protocol.Job{UniqueID: r.UniqueID, RunKey: r.RunKey}, []ranklog.RankLog{}
	if n := int(min(r.Lines, logsBytes)); r.Rank < 0 {
		all = append(all, m.logs.Tails(id, n, logsBytes)...)
	} else if log, ok := m.logs.Tail(id, r.Rank, n); ok {
		all = append(all, log)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic("BUG: spantree: a log is no JSON: " + err.Error())
	}
	m.do(SendFrame{ev.Conn, &protocol.LogsFrame{JSON: string(text)}})
	m.do(CloseConn{ev.Conn})
}
