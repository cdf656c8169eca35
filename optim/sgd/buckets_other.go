// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package sgd

import "github.com/gvw-project/gvw/feature"

// translateSome is translateEach.
func (n *numbers) translateSome(dst, src []feature.Feature, adds bool) (done int) {
	return n.translateEach(dst, src, adds)
}
