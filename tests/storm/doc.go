// SPDX-License-Identifier: Apache-2.0

// Package storm breaks jobs of real processes at random and looks at what becomes of
// them: four workers under gvw run train the hybrid on real data, a fault of a random
// kind strikes a random rank at a random point, and the model must have the bytes of
// an undisturbed run. A job that is not to recover (--on_loss abort) must end soon, with
// a clear error and no model; one that goes on without lost ranks (--on_loss shrink) must leave
// the same model with all that are left; one with spares needs nobody to be started again.
//
//	make storm                     1,000 jobs of each sort, and a table of what they did
//	STORM=200 STORM_SEED=7 go test -v -run TestStorm ./tests/storm
//	STORM_ONLY=17 …                the 17th job of that seed alone
//	STORM_MINUTES=20 …             no more than fit so much time
//
// A failure is printed as a command that reproduces it.
package storm
