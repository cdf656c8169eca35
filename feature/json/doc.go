// SPDX-License-Identifier: Apache-2.0

// Package json reads examples that are JSON objects, one a line, as vw's --json
// does.
//
//	{"_label": 1, "_tag": "house-17", "size": {"area": 120, "rooms": 4}, "quiet": true}
//
// is the line "1 house-17|size area:120 rooms:4 | quiet" of vw's text, and
//
//	p, err := json.NewParser(feature.Config{Bits: 18})
//	err = p.AppendLine(&batch, line, 1)
//
// adds to the batch what a [feature.Parser] adds for that line.
//
// # Mapping
//
//	"x": 2.5           feature x with the value 2.5, unless that is 0
//	"x": true          feature x with the value 1; false and null are nothing
//	"x": "red"         feature "xred"; with feature.Config.ChainHash it is "x:red" of vw's
//	                   text. Blanks, tabs, ':' and '|' in the text become '_'
//	"ns": {…}          a namespace, also inside of another one, whose name plays no part
//	"ns": [1, 0, 3]    a namespace of features without names, numbered by position
//	"ns": [{…}, {…}]   a namespace with the features of all objects
//	"_label": 1        the label; as text "1 0.5 0.25" with weight and initial prediction
//	"_label": {"Label": 1, "Weight": 0.5, "Initial": 0.25}   the same; also "_label_Weight": 0.5
//	"_tag": "t"        the tag
//	"_text": "a b c"   features a, b and c; ':' and '|' become '_'
//	"_anything": …     ignored
//
// Namespaces come in the order in which they end, so that an inner one comes
// before the outer one, and the default namespace last.
//
// # Contract
//
// Examples are those of vw 9.11, bit by bit, numbers included. Input that vw
// refuses is a [*feature.MalformedError] with its column: invalid JSON, an empty line,
// text or true and false in an array, arrays in arrays, the keys of multi-line
// examples. Beyond vw, these are errors: a label that is "NaN", the labels of
// contextual bandits (which vw reads and then has no label), objects more than
// [MaxDepth] deep, and a line that is null. These are none: blanks behind a key
// that is ignored, and names of namespaces that do not begin with an ASCII
// character (vw crashes).
//
// The scanner works on the bytes of the line and allocates nothing per example.
package json
