// SPDX-License-Identifier: Apache-2.0

// Package libsvm reads examples in the format of LIBSVM and SVMlight:
//
//	1 qid:7 3:1 17:0.5 # anything
//
// is the line "1 | 3:1 17:0.5" of vw's text, and
//
//	p, err := libsvm.NewParser(feature.Config{Bits: 18})
//	err = p.AppendLine(&batch, line, 1)
//
// adds to the batch what a [feature.Parser] adds for that line.
//
// # Mapping
//
// A label, then index:value pairs, separated by blanks or tabs; the first '#'
// begins a comment. An index is the name of a feature of the default namespace:
// a number of digits, from 0 or from 1 as the file has it, in any order. Names of
// digits are not hashed unless feature.Config.HashAll says so: feature 17 is
// weight 17 (modulo the number of weights; the constant is weight 116060 of
// 2^18). The value 0 is no feature. The "qid:7" of ranking data, which a linear
// learner has no use for, is read over. Lines that are empty but for a comment
// are no examples.
//
// # Contract
//
// The format has no recoveries: a label or a value that is not a number, an
// index that is not, a missing label or several ones are a
// [*feature.MalformedError] with its column. Numbers are read as in vw's text.
// Nothing is allocated per example.
package libsvm
