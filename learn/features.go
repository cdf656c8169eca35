// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/model"
)

// NamedData says how to read data of a format (empty: vw's text) with the
// features that a model was trained on, by the options that it keeps, and with
// their names. name is the model's, for messages.
func NamedData(name string, h *model.Header, format string, inputs []Input) (stream.Config, error) {
	c := Config{Features: FeatureConfig{Bits: h.Bits}, Data: DataConfig{Format: format, Inputs: inputs}}
	c = c.withDefaults()
	if err := c.takeOptions(name, h); err != nil {
		return stream.Config{}, err
	}
	d := dataset(&c)
	d.Feature.Names = true
	return d, nil
}
