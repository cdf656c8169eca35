// SPDX-License-Identifier: Apache-2.0

//go:build long

package storm

// jobs is how many jobs a storm has.
const jobs = 1000
