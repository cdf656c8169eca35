// SPDX-License-Identifier: Apache-2.0

// Package inspect describes a model: its header, its largest weights by
// name, its namespaces, and its differences from another model.
//
//	names := inspect.NewNames()
//	names.Of(&model.Header, 3)            // a model of --oaa 3 has a weight for each class
//	names.Note(feature, "a^x*b^y")       // from an inverted model
//	names.See(batch)                      // from data, read with feature.Config.Names
//	os.Stdout.Write(inspect.AppendModel(nil, "m", model))
//	os.Stdout.Write(inspect.AppendTop(nil, model, names, 20))
//
// A file of weights has no names: they come from the text of --invert_hash, or
// from data, which also says in how many examples a feature stands and between
// which values. Several names may share one weight.
//
// # Contract
//
// Everything is text for people, appended to dst; its order depends on nothing
// but model and names. Weights are ordered by size, equal ones by number.
// Names takes memory for every different name.
package inspect
