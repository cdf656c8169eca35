// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines, bars, lanes and graphs as SVG, lines and bars also as PNG and as plain text. It is pure: values
// in, bytes out.
//
//	p := chart.Lines{Title: "Loss", X: "pass", Y: "loss", Series: []chart.Series{{Name: "train", X: x, Y: y}}}
//	dst = p.AppendSVG(dst, chart.File)
//	dst, err = p.AppendPNG(dst)
//
// # Pictures
//
// A picture has the role img, a title and a description, which screen readers read. Series and parts differ by hue, and
// also by dash, marker or hatch, so that they can be told apart by colour-blind readers and in black and white. The
// colours are Okabe and Ito's, darker on light ground and lighter on dark ground to have a contrast of 3 or more.
//
// A picture of mode File is a file of its own: it has its style and follows the light or dark preference of its viewer.
// A picture of mode Inline is part of a page that has Style in a style element and Defs once in its body.
//
// A PNG is the same picture on light ground, with two pixels for one of SVG, and the font of the Go project, which has Latin, Greek
// and Cyrillic letters. Letters of other scripts are boxes.
//
// # Contract
//
// The same values give the same bytes. Values that are not finite are left out. Text is escaped.
package chart
