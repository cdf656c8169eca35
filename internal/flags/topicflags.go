// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model/topics"
)

// catTopics is the category of the options of gvw topics and gvw infer.
const catTopics = "Topics"

// TopicForms are the forms in which gvw topics prints a model.
var TopicForms = []string{"text", "json", "html", "table"}

// Topics are the options of `gvw topics`.
var Topics = []*cli.Spec{
	{Name: "top", Kind: cli.Integer, Positive: true, Max: 1000, Category: catTopics, Arg: "N", Def: "10", Help: "most probable words of a topic"},
	{Name: "to", Kind: cli.Text, Category: catTopics, Arg: "FORM", Choices: TopicForms, Def: TopicForms[0], Help: "form: a table of topics, JSON, a page with bars, or a line of numbers for each word"},
	{Name: "vocab", Kind: cli.Text, Category: catTopics, Arg: "FILE", Help: "names of the words, one a line"},
	{Name: "vocab_ids", Kind: cli.Text, Category: catTopics, Arg: "HOW", Choices: topics.IDNames, Def: topics.IDNames[0], Help: "the words' numbers: that of the line from 0, vw's hash of the name, or the second column"},
	{Name: "data", Short: "d", Kind: cli.Text, Category: catTopics, Arg: "FILE", Repeat: true, Help: "documents, for names without --vocab and for the coherence; repeatable"},
	{Name: "corpus", Kind: cli.Text, Category: catTopics, Arg: "FILE", Repeat: true, Help: "documents for the coherence, instead of those of --data; repeatable"},
	{Name: "perplexity", Kind: cli.Text, Category: catTopics, Arg: "FILE", Repeat: true, Help: "held-out documents to be completed; repeatable"},
	{Name: "alpha", Kind: cli.Float, Positive: true, Category: catTopics, Arg: "X", Help: "prior of topics in these documents; that of the model if left out"},
	{Name: "format", Kind: cli.Text, Category: catTopics, Arg: "FORMAT", Choices: learn.Formats, Help: "format of all documents; vw's text if left out"},
	dictionaryPath(catTopics),
	{Name: "vocab_out", Kind: cli.Text, Category: catTopics, Arg: "FILE", Help: "write the words and their numbers, for --vocab_ids column"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}

// Infer are the options of `gvw infer`.
var Infer = []*cli.Spec{
	{Name: "initial_regressor", Short: "i", Kind: cli.Text, Category: catTopics, Arg: "MODEL", Help: "model of --lda"},
	{Name: "data", Short: "d", Kind: cli.Text, Category: catTopics, Arg: "FILE", Repeat: true, Help: "documents: a file, 'pattern*' or -; repeatable"},
	{Name: "format", Kind: cli.Text, Category: catTopics, Arg: "FORMAT", Choices: learn.Formats, Help: "format of the documents; vw's text if left out"},
	dictionaryPath(catTopics),
	{Name: "predictions", Short: "p", Kind: cli.Text, Category: catTopics, Arg: "FILE", Def: "stdout", Help: "write the shares of the topics, one line a document"},
	{Name: "json", Kind: cli.Boolean, Category: catTopics, Help: "lines are JSON objects"},
	{Name: "gamma", Kind: cli.Boolean, Category: catTopics, Help: "the parameters of the posterior, as vw -t -p has them, and not its mean"},
	{Name: "help", Short: "h", Kind: cli.Boolean, Category: catOther, Help: "this page"},
}
