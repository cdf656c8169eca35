// SPDX-License-Identifier: Apache-2.0

package loss

import (
	"fmt"

	"github.com/gvw-project/gvw/internal/fmath"
)

// Link turns the raw prediction into the one that is shown. It is applied last:
// losses and updates use the raw prediction. The zero Link is the identity.
type Link struct {
	name string
	f    func(float32) float32 // nil: identity
}

var links = []Link{
	{name: "identity"},
	{"logistic", sigmoid},
	{"glf1", func(p float32) float32 { return 2*sigmoid(p) - 1 }},
	{"poisson", fmath.Exp32},
}

func sigmoid(p float32) float32 { return 1 / (1 + fmath.Exp32(-p)) }

// NewLink returns the link that vw's --link calls name.
func NewLink(name string) (Link, error) {
	for _, l := range links {
		if l.name == name {
			return l, nil
		}
	}
	return Link{}, fmt.Errorf("loss: unknown link %q: use identity, logistic, glf1 or poisson", name)
}

// Name is vw's spelling.
func (l Link) Name() string {
	if l.f == nil {
		return "identity"
	}
	return l.name
}

// Apply returns the prediction to show for the raw prediction p.
func (l Link) Apply(p float32) float32 {
	if l.f == nil {
		return p
	}
	return l.f(p)
}
