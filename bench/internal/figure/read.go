// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ReadLines reads the series of a file.
func ReadLines(path string) ([]Line, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment, r.FieldsPerRecord = '#', 3
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var f Figure
	for _, row := range rows[1:] {
		x, _ := strconv.ParseFloat(row[1], 64) // written by this package
		y, _ := strconv.ParseFloat(row[2], 64)
		f.Add(row[0], Point{x, y})
	}
	return f.Lines, nil
}
