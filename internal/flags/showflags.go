// SPDX-License-Identifier: Apache-2.0

package flags

import "github.com/gvw-project/gvw/internal/cli"

// catShow is the category of the options of the commands that draw.
const catShow = "Picture"

// Timeline are the options of `gvw timeline`.
var Timeline = []*cli.Spec{
	{Name: "svg", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "write a Gantt chart; without it, print the time of each part"},
	{Name: "merge", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "write the timelines of several machines as one Chrome trace on one clock"},
	{Name: "from", Kind: cli.Float, Category: catShow, Arg: "S", Def: "0", Help: "begin so many seconds after the first span"},
	{Name: "to", Kind: cli.Float, Category: catShow, Arg: "S", Help: "end so many seconds after the first span; at the end of the trace if left out"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// Report are the options of `gvw report`.
var Report = []*cli.Spec{
	{Name: "output", Short: "o", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "the page to write"},
	{Name: "predictions", Short: "p", Kind: cli.Text, Category: catShow, Arg: "FILE", Repeat: true, Help: "predictions of the run's model, for curves; once for each run"},
	{Name: "labels", Kind: cli.Text, Category: catShow, Arg: "FILE", Repeat: true, Help: "data with the labels of the same examples"},
	{Name: "format", Kind: cli.Text, Category: catShow, Arg: "FORMAT", Choices: []string{"json", "csv", "libsvm"}, Help: "format of the examples; vw's text if left out"},
	{Name: "model", Short: "i", Kind: cli.Text, Category: catShow, Arg: "FILE", Repeat: true, Help: "the run's model, or its text, for the largest weights; once for each run"},
	{Name: "names", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "names from the text of --invert_hash"},
	{Name: "data", Short: "d", Kind: cli.Text, Category: catShow, Arg: "FILE", Repeat: true, Help: "names from these examples, of the same format; repeatable"},
	dictionaryPath(catShow),
	{Name: "top", Kind: cli.Integer, Positive: true, Max: 200, Category: catShow, Arg: "N", Def: "25", Help: "weights to draw"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// Plot are the options of `gvw plot`.
var Plot = []*cli.Spec{
	{Name: "output", Short: "o", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "write a picture, by the ending of the name: .svg or .png; without it, draw with characters on stdout"},
	{Name: "svg", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "write an SVG picture to a file of any name"},
	{Name: "x", Short: "x", Kind: cli.Text, Category: catShow, Arg: "WHAT", Help: "draw losses by: of runs, pass (default), time, or bytes received by all ranks; of a search, trial (default), time, pass, or an option that it varies"},
	{Name: "names", Kind: cli.Text, Category: catShow, Arg: "FILE", Help: "of a model: names from the text of --invert_hash"},
	{Name: "data", Short: "d", Kind: cli.Text, Category: catShow, Arg: "FILE", Repeat: true, Help: "of a model: names from these examples; repeatable"},
	dictionaryPath(catShow),
	{Name: "format", Kind: cli.Text, Category: catShow, Arg: "FORMAT", Choices: []string{"json", "csv", "libsvm"}, Help: "format of the examples; vw's text if left out"},
	{Name: "top", Kind: cli.Integer, Positive: true, Max: 200, Category: catShow, Arg: "N", Def: "25", Help: "of a model: weights to draw"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}
