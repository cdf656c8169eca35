// SPDX-License-Identifier: Apache-2.0

// Package storm injects random faults into jobs of real processes and checks their outcome.
// Four workers under gvw run train the hybrid on real data, a fault of a random kind hits a
// random rank at a random point, and the model must have the bytes of an undisturbed run. A
// job that must not recover (--on_loss abort) must end, with a clear error and no model.
// In a job that continues without lost ranks (--on_loss shrink), all remaining ranks must write
// the same model. A job with spares must succeed without restarts.
//
//	make storm                     1,000 jobs of each sort, and a table of what they did
//	STORM=200 STORM_SEED=7 go test -v -run TestStorm ./tests/storm
//	STORM_ONLY=17 …                only the 17th job of that seed
//	STORM_MINUTES=20 …             only as many jobs as fit into that time
//
// A failure is printed as a command that reproduces it.
package storm
