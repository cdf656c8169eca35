// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gvw-project/gvw/learn"
)

// file is an output in memory.
type file struct{ bytes.Buffer }

func (*file) Commit() error { return nil }
func (*file) Abort() error  { return nil }

// L-BFGS over four examples in memory. The model is delivered through
// Output.Create when the run ends.
func ExampleRun() {
	const text = "1 | sun warm\n-1 | rain cold\n1 | warm\n-1 | cold rain\n"
	model := new(file)
	report, err := learn.Run(context.Background(), learn.Config{
		Data: learn.DataConfig{Inputs: []learn.Input{{
			Name: "weather", Identity: "version 1", // it can be read again
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
		}}},
		Passes:  10,
		Holdout: learn.HoldoutConfig{Off: true},
		Loss:    learn.LossConfig{Function: "logistic"},
		Batch:   learn.BatchConfig{BFGS: true},
		Reg:     learn.RegConfig{L2: 0.1},
		Model:   learn.ModelConfig{Final: "weather.model"},
		Output:  learn.OutputConfig{Create: func(string) (learn.Output, error) { return model, nil }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("examples per pass:", report.Stats.Examples/uint64(report.Passes))
	fmt.Println("model written:", model.Len() > 0)
	// Output:
	// examples per pass: 4
	// model written: true
}
