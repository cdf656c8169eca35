// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"

	"github.com/gvw-project/gvw/learn"
)

// modelFile is the file of -f.
type modelFile struct {
	run  *run
	name string       // empty: no model is written
	out  learn.Output // nil: not created, or ended
}

// create creates the file, which gets its name when it is complete.
func (m *modelFile) create() (err error) {
	if m.name != "" {
		m.out, err = m.run.files.Creator(m.run.ctx, m.run.fsys, m.run.job.rank())(m.name)
	}
	return err
}

// write writes the model. It creates the file unless that is done.
func (m *modelFile) write() error {
	if m.out == nil {
		if err := m.create(); err != nil || m.out == nil {
			return err
		}
	}
	data, err := m.run.prog.encode(nil)
	if err == nil {
		_, err = m.out.Write(data)
	}
	if err != nil {
		return errors.Join(err, m.abort())
	}
	out := m.out
	m.out = nil
	return out.Commit()
}

// abort removes a file that is not complete.
func (m *modelFile) abort() error {
	if m.out == nil {
		return nil
	}
	out := m.out
	m.out = nil
	return out.Abort()
}
