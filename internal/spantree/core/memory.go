// SPDX-License-Identifier: Apache-2.0

package core

import "github.com/gvw-project/gvw/internal/spantree/protocol"

// JobBytes is the memory that a job is counted with, in bytes, in addition to its texts and its
// members. It covers maps, charges and evictions, whose sizes are bounded.
const JobBytes = 8 << 10

// MemoryUse returns the memory that clients occupy in the machine, in bytes, as the server's limit
// counts it.
func (m *Machine) MemoryUse() (n int64) {
	n = m.finished.Bytes()
	for _, j := range m.order {
		n += JobBytes + int64(len(j.options)+len(j.id.RunKey)+len(j.waitReport.text))
		for _, f := range j.finish.files {
			n += protocol.FileBytes + int64(len(f.File))
		}
		for _, a := range j.everybody() {
			n += a.memoryUse()
		}
	}
	return n
}

// memoryUse returns the memory that an attempt is counted with, in bytes.
func (a *attempt) memoryUse() int64 {
	n := protocol.MemberBytes + int64(len(a.host)+len(a.advertise)+len(a.version)+len(a.waitText)+len(a.reported.report))
	for _, f := range a.owed {
		n += protocol.FileBytes + int64(len(f))
	}
	return n
}
