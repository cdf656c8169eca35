// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package mem

// LeastRoom returns no limit on this system.
func LeastRoom(string, int) (Room, bool) { return Room{}, false }

// LeastOwnRoom returns no limit on this system.
func LeastOwnRoom(string) (Room, bool) { return Room{}, false }
