// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/gvw-project/gvw/model"
)

// Write a model, read it back into another layout, print it.
func Example() {
	r := &model.Regressor{
		Header: model.Header{
			ID: "spam", MinLabel: -50, MaxLabel: 50, Bits: 2,
			Options: []model.Option{{Name: "link", Value: "logistic"}},
		},
		Weights: model.View{Data: []float32{0, 0.25, 0, -1.5}},
	}
	var file bytes.Buffer
	if err := model.Write(&file, r); err != nil {
		fmt.Println(err)
		return
	}

	d, err := model.NewDecoder(&file, model.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	wide := model.View{Data: make([]float32, 4<<d.Header.Bits), Stride: 4, Slots: []int{0}}
	if _, err := d.Weights(wide); err != nil {
		fmt.Println(err)
		return
	}
	_ = model.WriteReadable(os.Stdout, &model.Regressor{Header: d.Header, Weights: wide})
	// Output:
	// Version 9.11.9
	// Id spam
	// Min label:-50
	// Max label:50
	// bits:2
	// lda:0
	// 0 ngram:
	// 0 skip:
	// options: --link logistic
	// Checksum: 2676537062
	// :0
	// 1:0.25
	// 3:-1.5
}
