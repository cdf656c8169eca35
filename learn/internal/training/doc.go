// SPDX-License-Identifier: Apache-2.0

// Package training has the types that the stages of a training share with the run. [Outcome] is
// the result of a stage. [Models] is the source of the models that a stage makes, after each
// pass and at the end: the stage provides the weights, and the run provides the header and the
// resume state, which are the same for all stages.
package training
