// SPDX-License-Identifier: Apache-2.0

//go:build long

package tests

// anySets is the number of option sets that TestAnyOptionsAgreeWithVW draws.
const anySets = 5000
