// SPDX-License-Identifier: Apache-2.0

// Package feature parses vw's text into examples: numbers for a linear learner,
// independent of the format of the input.
//
// A line is a label, and namespaces full of features:
//
//	1 0.5 'house-17 |size area:120 rooms:4 |place:2 north quiet
//	│ │    │         │                       │
//	│ │    tag       namespace "size"        namespace "place", values times 2
//	│ importance weight
//	label
//
// [Parser.AppendLine] adds the example of one line to a [Batch]:
//
//	p, err := feature.NewParser(feature.Config{Bits: 18})
//	if err != nil {
//		return err
//	}
//	var b feature.Batch
//	for n, line := range lines {
//		if err := p.AppendLine(&b, line, int64(n+1)); err != nil {
//			return err
//		}
//	}
//	for i := range b.Examples {
//		ex := &b.Examples[i]
//		learn(b.FeaturesOf(ex), ex.Label)
//	}
//	b.Reset() // and fill it again: nothing is allocated per example
//
// # Hashing
//
// A feature's name is hashed, seeded with the hash of its namespace's name, and
// masked to Bits bits: that is the number of its weight. There is no table of names;
// two names may share a weight. Names that consist of digits are not hashed but added
// to the seed (unless HashAll), so that numbered features do not collide with
// each other. The constant feature (number [ConstantIndex], value 1) is added to
// each example after all others.
//
// # Namespaces
//
// Options name namespaces by the first bytes of their names. In this order, a
// parser redefines namespaces (Config.Redefine), makes features of names on the
// side (Affix, Spelling; they are namespaces of their own), drops namespaces
// (Ignore, Keep), adds n-grams (NGrams, Skips), adds the constant and limits the
// number of features (Limits).
//
// # Interactions
//
// Config.Interactions names sets of namespaces. Each feature of the first is combined with
// each of the second, and so on: the product of the values under a hash of all
// numbers. AppendLine adds them after the constant; [Interactor] adds them to
// examples that were read without, as a cache holds them. Features of
// Config.IgnoreLinear take part only in this: they lie before the example's own
// (Example.Hidden).
//
// # Names
//
// With Config.Names each feature keeps its name as vw writes it: place^north,
// color^red (text as a value), a^foo^bar (an n-gram), a^x*b^y. Without, nothing is
// done for them.
//
// # Contract
//
// The text, the hashes and the order of features are those of Vowpal Wabbit 9,
// to the letter, malformed lines included: what vw drops is dropped here, with
// a [Warning] in the batch. Numbers are read as vw reads them, in float32.
// Nothing here does I/O, logs or keeps a reference to a line. A Parser or an
// Interactor belongs to one goroutine; batches of one input may be made by many
// and put in order afterwards, as package stream does.
package feature
