// SPDX-License-Identifier: Apache-2.0

package malt_test

import (
	"fmt"

	"github.com/gvw-project/gvw/malt"
)

// Validate reports all faults of a configuration before a rank joins.
func ExampleConfig_Validate() {
	fmt.Println(malt.Config{Server: "gateway:26543", Job: malt.Job{UniqueID: 1}, Total: 4, OnLoss: malt.Grow, VerbsMemory: -1}.Validate())
	// Output:
	// malt: Job.RunKey: a job that grows needs a run key: a rank that joins after the end would start the job again
	// malt: VerbsMemory: got -1, want 0 bytes or more
}

// Ranks count from 0.
func ExampleDataConfig_Validate() {
	fmt.Println(malt.DataConfig{Names: []string{"train.txt"}, Rank: 4, Of: 4}.Validate())
	// Output:
	// malt: Rank: got 4 of 4, want 0 to one less than the number of ranks
}

// Updates of the 100 largest values, each with 16 bits.
func ExampleFormat_Validate() {
	fmt.Println(malt.Format{Code: malt.F16, Top: 100}.Validate())
	fmt.Println(malt.Format{Top: -1}.Validate())
	// Output:
	// <nil>
	// pack: top -1: want 0 for all values, or a positive number
}

// With some policies other processes may take the place of a lost rank.
func ExampleOnLoss_Replaces() {
	for _, policy := range []malt.OnLoss{malt.Abort, malt.Wait, malt.Shrink, malt.Grow} {
		fmt.Println(policy, policy.Replaces())
	}
	// Output:
	// abort false
	// wait true
	// shrink false
	// grow true
}
