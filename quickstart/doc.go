// SPDX-License-Identifier: Apache-2.0

// Command quickstart trains a spam filter with four workers on this machine and
// shows what to look at.
//
//	make quickstart
//
// It starts the server and four workers, each a process of its own on its own
// quarter of the data; trains the hybrid of SGD and L-BFGS twice, and compares
// the bytes of all eight models; trains each method for a growing number of
// passes, to show what the hybrid is for; scores e-mails outside the
// training set; and looks up which words weigh most. The commands it runs are printed as
// they would be typed. Models, predictions and logs stay under quickstart/out.
package main
