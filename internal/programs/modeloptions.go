// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"errors"
	"fmt"

	"github.com/gvw-project/gvw/internal/cli"
)

// modelOption is an option that a model keeps: training that continues has the model's value.
type modelOption struct {
	name  string
	value any
}

// text returns the value for messages.
func (o modelOption) text() string {
	if s := fmt.Sprint(o.value); s != "" {
		return s
	}
	return "none"
}

// checkKept returns the faults of options on the command line that a model contradicts.
func checkKept(c *cli.Context, model string, given, kept []modelOption) error {
	var errs []error
	for i, o := range given {
		if c.IsSet(o.name) && o.value != kept[i].value {
			errs = append(errs, cli.Usagef("--%s %s would be ignored: the model %s keeps its own value, %s: leave --%s out", o.name, o.text(), model, kept[i].text(), o.name))
		}
	}
	return errors.Join(errs...)
}
