// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package malt

// moreFabrics are the ways of Linux, of which other systems have none.
func moreFabrics() []fabric { return nil }
