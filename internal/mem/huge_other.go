// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package mem

// adviseHuge does nothing: there is no such advice to give here.
func adviseHuge([]float32) {}
