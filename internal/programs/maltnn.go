// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
)

// nnShared are the layers as shared vectors; none in a process that learns from all examples.
type nnShared struct{ sharedLayers []*sharedRows }

// share keeps each layer in a shared vector.
func (n *nnProgram) share(j *job) error {
	n.config.Weights = nil
	for i := range n.config.Layers() {
		size, row := n.config.LayerSize(i)
		s, err := j.rows(fmt.Sprintf("layer%d", i+1), size/row, row)
		if err != nil {
			return err
		}
		n.sharedLayers = append(n.sharedLayers, s)
		n.config.Weights = append(n.config.Weights, s.vector.Values())
	}
	n.config.Stepped = n.sharedLayers[0].changesRows
	return nil
}

// exchange sends and merges all layers. All rows of the upper ones change, and so does the bias of the first.
func (n *nnProgram) exchange(ctx context.Context) error {
	n.sharedLayers[0].changes(n.config.Inputs)
	for i, s := range n.sharedLayers {
		if i > 0 {
			s.changesAll()
		}
		if err := s.exchange(ctx, s.average); err != nil {
			return err
		}
	}
	return nil
}
