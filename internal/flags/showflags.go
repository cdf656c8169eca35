// SPDX-License-Identifier: Apache-2.0

package flags

import "github.com/gvw-project/gvw/internal/cli"

// catShow is the category of the options of the commands that draw.
const catShow = "Picture"

// Timeline are the options of `gvw timeline`.
var Timeline = []*cli.Spec{
	{Name: "svg", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "write a Gantt chart; without it, print the time of each part"},
	{Name: "from", Kind: cli.Float, Category: catShow, Arg: "S", Def: "0", Help: "begin so many seconds after the first span"},
	{Name: "to", Kind: cli.Float, Category: catShow, Arg: "S", Help: "end so many seconds after the first span; at the end of the trace if left out"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}
