// SPDX-License-Identifier: Apache-2.0

//go:build !(rdma && linux && cgo)

package verbs

// System is no library: this program was built without libibverbs, and says so.
func System() Library { return none{} }

type none struct{}

func (none) Devices() ([]Device, error)  { return nil, ErrNotBuilt }
func (none) Open(Place) (Context, error) { return nil, ErrNotBuilt }
