// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/job"
	"github.com/gvw-project/gvw/learn/internal/usage"
)

type (
	// UsageError is a fault of a Config: fields that contradict each other, or that do not
	// fit the model. Its message names fields as in learn.Config.Reg.L2, and a value of a field
	// as in learn.Config.Loss.Function=logistic. A program with a command line can replace these
	// by its options.
	UsageError = usage.Error
	// DataError is a fault in an input: a model that another program has written, for example,
	// or data without examples.
	DataError = examples.DataError
	// ProvenanceError means that a state was made from other data than this rank has read, or
	// from another initial model.
	ProvenanceError = job.ProvenanceError
)
