// SPDX-License-Identifier: Apache-2.0

//go:build long

package stormnet

// jobs is how many jobs a storm has.
const jobs = 300
