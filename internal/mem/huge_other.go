// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package mem

// adviseHuge does nothing: this system has no such request.
func adviseHuge([]byte) {}
