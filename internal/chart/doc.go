// SPDX-License-Identifier: Apache-2.0

// Package chart draws lines, bars and lanes as SVG, and lines as plain text. It is pure: values in, text out.
//
//	p := chart.Lines{Title: "Loss", X: "pass", Y: "loss", Series: []chart.Series{{Name: "train", X: x, Y: y}}}
//	dst = p.AppendSVG(dst, chart.File)
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
// # Contract
//
// The same values give the same bytes. Values that are not finite are left out. Text is escaped.
package chart
