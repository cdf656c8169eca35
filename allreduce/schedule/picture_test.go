// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"

	"github.com/gvw-project/gvw/allreduce/schedule"
)

func ExampleSpec() {
	s := schedule.Spec{Schedule: schedule.Halving, Size: 4, Bytes: 4096, Elem: 4}
	fmt.Print(s.Graph().ASCII())
	fmt.Println(s.Sums()[0])
	fmt.Print(s.AllReduce(1))
	// Output:
	//   0 <-> 1  4096 bytes in 2 messages each way
	//   0 <-> 2  2048 bytes in 2 messages each way
	//   1 <-> 3  2048 bytes in 2 messages each way
	//   2 <-> 3  4096 bytes in 2 messages each way
	// ((0+1)+(2+3))
	//     0  bytes 0 to 2048: own to rank 0
	//     1  bytes 2048 to 4096: result = rank 0's + own
	//     2  bytes 3072 to 4096: result to rank 3, after 1
	//     3  bytes 2048 to 3072: result = result + rank 3's, after 1
	//     4  bytes 2048 to 3072: result to rank 3, after 3
	//     5  bytes 3072 to 4096: result from rank 3, after 2
	//     6  bytes 2048 to 4096: result to rank 0, after 3 5
	//     7  bytes 0 to 2048: result from rank 0, after 0
}
