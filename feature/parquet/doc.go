// SPDX-License-Identifier: Apache-2.0

// Package parquet reads the rows of Parquet files as the text of package csv:
//
//	f, err := parquet.Open(file, size)
//	text := f.CSV(parquet.Part{To: f.Rows()})
//
// # Mapping
//
// The columns have the names of package csv: _label, _tag, name and namespace|name. The field
// b of a structure a is the column a|b. A column _weight beside _label has importance weights.
//
// A number or boolean is a cell with a number, in the shortest form that is the same float32;
// dates and times are the whole numbers that the file stores. A text is a cell in quotes, also if
// it looks like a number; its line ends become blanks. Null, NaN and the empty text are empty
// cells. A list, or a map in a namespace of its own, is a cell with several values, which need
// csv.Config.Several. Each row is a line. A file with one column gets a second one, which is always empty.
//
// # Contract
//
// Of the format it has plain and dictionary encoding, runs of booleans, the three encodings of
// differences, split streams of bytes, both versions of pages, and no compression, snappy, gzip, zstd or
// LZ4_RAW. Lists of lists, of maps or of structures, decimals in bytes, and encryption are errors that name the
// column and the remedy. A list or a map has at most 1048576 values in a row. A damaged file is an error, which names row group or row, and column. A page is at most
// 256 MiB. The stored bytes of a row group and its dictionaries are in memory. Checksums of pages are not verified.
//
// The package needs only decompression. A program with Apache's library for Go is 21 MB larger
// and needs 5 ms more processor time to start.
package parquet
