// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// Two passes over one text, each in the order of its lines.
func Example() {
	const text = "1 | sun\n-1 | rain\n1 | sun wind\n"
	data, err := stream.NewDataset(stream.Config{
		Feature: feature.Config{Bits: 18, NoConstant: true},
		Sources: []stream.Source{{
			Name:     "weather",
			Identity: "weather, version 1",
			Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(text)), nil
			},
		}},
		Passes: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		if err := printPass(data); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// 1:1 -1:1 1:2
	// 1:1 -1:1 1:2
}

// printPass prints the labels and the numbers of features of one pass.
func printPass(data *stream.Dataset) error {
	pass, err := data.Pass(context.Background())
	if err != nil {
		return err
	}
	var line []string
	for {
		b, err := pass.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, pass.Close())
		}
		for i := range b.Examples {
			ex := &b.Examples[i]
			line = append(line, fmt.Sprintf("%v:%d", ex.Label, len(b.FeaturesOf(ex))))
		}
		pass.Recycle(b)
	}
	fmt.Println(strings.Join(line, " "))
	return pass.Close()
}
