// SPDX-License-Identifier: Apache-2.0

//go:build long

package server

// The long tier flips every bit, and over TLS those of every seventh byte.
func init() {
	flipBits = []byte{1, 2, 4, 8, 16, 32, 64, 128}
	flipSteps = map[string]int{"a secret, encrypted": 7, "certificates": 7}
}
