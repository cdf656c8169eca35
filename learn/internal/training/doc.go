// SPDX-License-Identifier: Apache-2.0

// Package training has the types that the stages of a training share with the run: what a
// stage ends with, and the source of the models that it makes.
package training
