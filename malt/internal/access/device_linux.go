// SPDX-License-Identifier: Apache-2.0

package access

import (
	"github.com/gvw-project/gvw/allreduce/verbs"
	"github.com/gvw-project/gvw/malt/internal/carrier"
	"github.com/gvw-project/gvw/malt/internal/rdmawrite"
)

// farDevice is a device as this package sees it.
type farDevice struct{ *rdmawrite.Device }

// Memory returns the memory shared with one rank.
func (d farDevice) Memory() carrier.Memory { return d.Device.Memory() }

func openFar(lib verbs.Library, p verbs.Place) (device, error) {
	d, err := rdmawrite.Open(lib, p)
	if err != nil {
		return nil, err
	}
	return farDevice{d}, nil
}
