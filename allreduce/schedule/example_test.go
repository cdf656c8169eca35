// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

// The all-reduce of three ranks over a tree: the messages and additions of rank 0, and the sum
// with which every rank ends. Execute needs no network.
func ExampleSpec_AllReduce() {
	s := schedule.Spec{Schedule: schedule.BinaryTree, Size: 3, Bytes: 8, Elem: 4}
	programs := make([]*schedule.Program, s.Size)
	for rank := range programs {
		programs[rank] = s.AllReduce(rank)
	}
	fmt.Print(programs[0])
	outcome, err := schedule.Execute(programs, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("all ranks agree:", outcome.Agree())
	for _, sum := range outcome.At(0) {
		fmt.Println(sum)
	}
	// Output:
	// 0  bytes 0 to 8: own to rank 1
	//     1  bytes 0 to 8: result from rank 1, after 0
	// all ranks agree: true
	// ((0+1)+2)
}

// Auto chooses a schedule by the number of ranks and the size of the vector.
func ExampleSpec_Pick() {
	for _, bytes := range []int{4, 64 << 10, 64 << 20} {
		fmt.Println(bytes, schedule.Spec{Size: 8, Bytes: bytes, Elem: 4}.Pick())
	}
	// Output:
	// 4 direct
	// 65536 direct
	// 67108864 halving
}

// Predict estimates how long an all-reduce takes on a given network.
func ExampleModel_Predict() {
	s := schedule.Spec{Schedule: schedule.Ring, Size: 8, Bytes: 64 << 20, Elem: 4}
	t := s
	t.Schedule = schedule.BinaryTree
	fmt.Println("a ring beats a tree for 64 MiB:", schedule.Network.Predict(s) < schedule.Network.Predict(t))
	// Output: a ring beats a tree for 64 MiB: true
}
