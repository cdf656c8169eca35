// SPDX-License-Identifier: Apache-2.0

// Package csv reads examples that are rows of numbers and texts, as vw's --csv
// does. The first line of a file names the columns:
//
//	_label,size|area,size|rooms,place,_tag
//	1 0.5,120,4,north,house-17
//
// where the row is the line "1 0.5 house-17|size area:120 rooms:4 | place:north"
// of vw's text, and
//
//	p, err := csv.NewParser(feature.Config{Bits: 18}, csv.Config{})
//	err = p.Header(&batch, first)
//	err = p.AppendLine(&batch, row, 2)
//
// adds to the batch what a [feature.Parser] adds for that line.
//
// # Mapping
//
//	_label     text of a label: label, weight and initial prediction, or fewer
//	_tag       the tag, without a quote (') before it
//	name       a feature of the default namespace
//	ns|name    a feature of namespace ns; without a name it is numbered
//
// A cell that is a number is the value of its feature; 0 is none. Another one is
// a text: with it the feature is "name:text" of vw's text. An empty cell is
// nothing. A cell in quotes may hold separators and, doubled, quotes, and is a
// text, also where it looks like a number; it cannot hold line ends.
//
// With Config.Several a cell may have several values, as of the lists and maps of package
// parquet ([Mark]).
//
// Namespaces come in the order of their first columns. vw's own order is that of
// its hash map; it matters only for the last bits of sums.
//
// # Contract
//
// Examples are those of vw 9.11, the order of namespaces aside. A row whose cells
// are all empty is no example. Input that ends vw's run is a
// [*feature.MalformedError]: an empty line, a row that is longer or shorter than
// the header, quotes that do not match, a column name with two bars. As in vw,
// byte order marks (each of their bytes), carriage returns and form feeds at both
// ends of a line are not part of it. Nothing is allocated per row.
package csv
