// SPDX-License-Identifier: Apache-2.0

package avgstage

import (
	"context"

	"github.com/gvw-project/gvw/learn/internal/examples"
)

// Parts reads passes in parts, for a stage of another learner whose rounds divide its passes.
type Parts struct{ cursor cursor }

// NewParts returns a reader of parts, which calls visit for each example.
func NewParts(read *examples.Reader, visit examples.Visit) *Parts {
	return &Parts{cursor{read: read, visit: visit}}
}

// Read visits the examples from number from to number to-1 of a pass. If to is [Whole] it visits all
// that are left.
func (p *Parts) Read(ctx context.Context, pass, from, to int) error {
	return p.cursor.part(ctx, pass, from, to)
}

// Whole is the end of the last part of a pass.
const Whole = whole
