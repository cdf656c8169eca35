// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce"
)

// register lets exactly these of the session's long vectors be sent from where they are, where
// bytes go over verbs. It is for the time between two collectives. What the device does not
// take is copied to be sent, and costs time alone.
func (s *session) register(vectors ...[]float32) {
	if s.group.Verbs() == "" {
		return
	}
	wanted := func(v []float32) bool {
		return slices.ContainsFunc(vectors, func(w []float32) bool { return same(v, w) })
	}
	s.registered = slices.DeleteFunc(s.registered, func(v []float32) bool {
		if wanted(v) {
			return false
		}
		if err := allreduce.Unregister(s.group, v); err != nil {
			s.log.Warn("cannot deregister a vector", "rank", s.rank, "error", err)
		}
		return true
	})
	for _, v := range vectors {
		if len(v) == 0 || slices.ContainsFunc(s.registered, func(w []float32) bool { return same(v, w) }) {
			continue
		}
		if err := allreduce.Register(s.group, v); err != nil {
			if !s.refused {
				s.log.Warn("a vector cannot be registered, it will be copied to be sent", "rank", s.rank, "bytes", 4*len(v), "error", err)
			}
			s.refused = true
			continue
		}
		s.registered = append(s.registered, v)
	}
}

// same says that two vectors are the same memory.
func same(v, w []float32) bool {
	return len(v) == len(w) && len(v) > 0 && &v[0] == &w[0]
}
