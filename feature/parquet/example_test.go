// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"fmt"
	"io"
	"os"

	"github.com/gvw-project/gvw/feature/parquet"
)

// The rows of a file become text of CSV.
func Example() {
	file, err := os.Open("testdata/small.parquet")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := parquet.Open(file, info.Size())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Rows(), "rows")
	text, err := io.ReadAll(f.CSV(parquet.Part{To: f.Rows()}))
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// 2 rows
	// "_label","size|area","city"
	// 310,120.5,"Delft"
	// 190,75,
	// <nil>
}
