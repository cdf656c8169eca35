// SPDX-License-Identifier: Apache-2.0

package learn

import "context"

// leased is an output that gets its final name only while the server counts on this
// rank: an attempt that was stopped in the middle of writing, and was counted as lost
// meanwhile, must not rename over what its successor has delivered.
type leased struct {
	Output
	s *session
}

func (l leased) Commit() error {
	if g := l.s.group; g != nil {
		if err := g.Lease(context.Background()); err != nil { // bounded by the job's end
			return err
		}
	}
	return l.Output.Commit()
}

// lease makes what a run delivers at its end subject to it. What it saves after each
// pass is not: another attempt saves the same bytes.
func (s *session) lease() {
	create := s.cfg.Output.Create
	s.create = create
	s.cfg.Output.Create = func(name string) (Output, error) {
		out, err := create(name)
		if err != nil {
			return nil, err
		}
		return leased{out, s}, nil
	}
}
