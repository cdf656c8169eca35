// SPDX-License-Identifier: Apache-2.0

//go:build !(rdma && linux && cgo)

package verbs

// System returns a Library whose methods fail with ErrNotBuilt.
func System() Library { return none{} }

type none struct{}

func (none) Devices() ([]Device, error)  { return nil, ErrNotBuilt }
func (none) Open(Place) (Context, error) { return nil, ErrNotBuilt }
