// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

// FeatureConfig says how text becomes the features that a model was trained on,
// by the options that it keeps. name is the model's, for messages.
func FeatureConfig(name string, h *model.Header) (feature.Config, error) {
	c := Config{Bits: h.Bits}
	c = c.withDefaults()
	if err := c.takeOptions(name, h); err != nil {
		return feature.Config{}, err
	}
	return dataset(&c).Feature, nil
}
