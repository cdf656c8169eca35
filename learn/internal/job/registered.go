// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"

	"github.com/gvw-project/gvw/allreduce"
)

// Register allows verbs to send these long vectors without a copy, and withdraws all others. It
// must be called between two collectives. A vector that the device does not accept is copied
// for each transfer, which costs time only.
func (j *Job) Register(vectors ...[]float32) {
	if j.Group.Verbs() == "" {
		return
	}
	wanted := func(v []float32) bool {
		return slices.ContainsFunc(vectors, func(w []float32) bool { return same(v, w) })
	}
	j.registered = slices.DeleteFunc(j.registered, func(v []float32) bool {
		if wanted(v) {
			return false
		}
		if err := j.Group.Unregister(allreduce.Vec(v)); err != nil {
			j.Log.Warn("cannot deregister a vector", "rank", j.Rank, "error", err)
		}
		return true
	})
	for _, v := range vectors {
		if len(v) == 0 || slices.ContainsFunc(j.registered, func(w []float32) bool { return same(v, w) }) {
			continue
		}
		if err := j.Group.Register(allreduce.Vec(v)); err != nil {
			if !j.refused {
				j.Log.Warn("a vector cannot be registered, it will be copied to be sent", "rank", j.Rank, "bytes", 4*len(v), "error", err)
			}
			j.refused = true
			continue
		}
		j.registered = append(j.registered, v)
	}
}

// same reports whether two vectors are the same memory.
func same(v, w []float32) bool {
	return len(v) == len(w) && len(v) > 0 && &v[0] == &w[0]
}
