// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// atHomes is atHomesEach.
func (n *numbers) atHomes(dst, src []feature.Feature, adds bool) (done int) {
	return n.atHomesEach(dst, src, adds)
}
