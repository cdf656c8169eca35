// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Line is one run of a program in the machine-readable output of a benchmark.
type Line struct {
	Row     string  `json:"row"`     // what was measured
	Program string  `json:"program"` // which program did it
	Wall    float64 `json:"wall"`    // seconds
	CPU     float64 `json:"cpu"`     // seconds
	Memory  float64 `json:"memory"`  // MB; 0: not measured
	Count   float64 `json:"count"`   // of what the row is divided by, such as features of a pass; 0: none
}

// WriteLines writes a line for each sample of a program, in the order of the runs.
func WriteLines(w io.Writer, row, program string, count float64, samples ...Sample) error {
	e := json.NewEncoder(w)
	for _, s := range samples {
		if !(s.Memory > 0) {
			s.Memory = 0 // not known on Windows
		}
		if err := e.Encode(Line{row, program, s.Wall, s.CPU, s.Memory, count}); err != nil {
			return err
		}
	}
	return nil
}

// ReadLines reads what WriteLines has written.
func ReadLines(r io.Reader) ([]Line, error) {
	var all []Line
	for d := json.NewDecoder(r); ; {
		var l Line
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		all = append(all, l)
	}
}
