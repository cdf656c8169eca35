// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// jobPrefix begins the names of the fields that the options of a job set.
const jobPrefix = "Cluster.Join."

// learnerSpecs returns the learner's options that set fields of learn.Config, without
// those of jobSpecs.
func learnerSpecs() []*spec {
	return slices.DeleteFunc(slices.Clone(learnFlags), func(s *spec) bool { return s.sets == "" || strings.HasPrefix(s.sets, jobPrefix) })
}

// jobSpecs returns the learner's options that set fields of allreduce.Config.
func jobSpecs() []*spec {
	return slices.DeleteFunc(slices.Clone(learnFlags), func(s *spec) bool { return !strings.HasPrefix(s.sets, jobPrefix) })
}
