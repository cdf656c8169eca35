// SPDX-License-Identifier: Apache-2.0

package main

import (
	"html"
	"regexp"
	"strings"
)

var (
	// listTag matches the prefix that a mailing list adds to a subject: "[ILUG] ", also after
	// "Re: ".
	listTag = regexp.MustCompile(`(?i)^((?:\s*(?:re|fwd?|aw)(?:\[\d+\])?\s*:)*)\s*\[[^\]]{1,40}\]`)

	address = regexp.MustCompile(`(?i)(mailto:)?[a-z0-9._%+=-]+@[a-z0-9.-]*[a-z0-9]`)
	webLink = regexp.MustCompile(`(?i)\b(?:https?|ftp)://[^\s<>"')]+`)

	comment  = regexp.MustCompile(`(?s)<!--.*?-->`)
	hidden   = regexp.MustCompile(`(?is)<(script|style|title)\b.*?</(script|style|title)\s*>`)
	inline   = regexp.MustCompile(`(?i)</?(a|b|i|u|em|strong|font|span|big|small)\b[^<>]*>`)
	anyTag   = regexp.MustCompile(`<[/!?a-zA-Z][^<>]*>`)
	htmlSign = regexp.MustCompile(`(?i)<(html|body|table|font|br|p|div|a href)\b[^<>]*>`)
)

// looksLikeHTML reports whether text labelled as plain is HTML.
func looksLikeHTML(s string) bool { return len(htmlSign.FindAllStringIndex(s, 5)) >= 5 }

// htmlText returns what a reader of HTML would see. A comment or an inline tag
// in the middle of a word, a trick of spam, leaves the word whole.
func htmlText(s string) string {
	s = comment.ReplaceAllString(s, "")
	s = hidden.ReplaceAllString(s, " ")
	s = inline.ReplaceAllString(s, "")
	s = anyTag.ReplaceAllString(s, " ")
	return html.UnescapeString(s)
}

// cleanSubject removes the list's tag and addresses.
func cleanSubject(s string) string {
	for {
		shorter := listTag.ReplaceAllString(s, "$1")
		if shorter == s {
			break
		}
		s = shorter
	}
	return removeAddresses(s)
}

// cleanBody removes list footers and addresses.
func cleanBody(s string) string { return removeAddresses(removeFooters(s)) }

// removeAddresses removes e-mail addresses and links, which would identify the list or the
// campaign.
func removeAddresses(s string) string {
	return address.ReplaceAllString(webLink.ReplaceAllString(s, " "), " ")
}

// Additions of mailing lists, by the phrases of their software.
var (
	// From such a line on, the paragraph is the list's.
	footer = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`this sf\.net email is sponsored by`,
		`^in remembrance$`,
		`^\S+ mailing list( <.*>)?$`,
		`^you have received this message because you subscribed`,
		`^copyright \S+ pudge`,
		`mailman/listinfo`,
		`lists\.sourceforge\.net`,
		`irish linux users'? group`,
		`for \(un\)subscription information`,
		`^list maintainer:`,
		`^to unsubscribe from this group, send an email to`,
		`yahoo! groups sponsor`,
		`docs\.yahoo\.com/info/terms`,
		`rss\.com/mailinglist`,
	}, "|"))
	// Such a line is the only one of its paragraph: the head and foot of a feed sent as mail.
	feedLine = regexp.MustCompile(`(?i)^((url|link): *http\S*|date: *(not supplied|\S*\d{4}-?\d\d-?\d\d.*)|-+(deathtospam)+-*)$`)
	rule     = regexp.MustCompile(`^\s*[-_=*~]{10,}[>~-]*\s*$`)
)

// removeFooters removes the footers of mailing lists, and rules.
func removeFooters(s string) string {
	var kept []string
	for _, paragraph := range paragraphs(s) {
		var lines []string
		for line := range strings.SplitSeq(paragraph, "\n") {
			bare := strings.TrimSpace(line)
			if footer.MatchString(bare) {
				break
			}
			if !feedLine.MatchString(bare) {
				lines = append(lines, line)
			}
		}
		kept = append(kept, strings.Join(lines, "\n"))
	}
	return strings.Join(kept, "\n\n")
}

// paragraphs splits text at empty lines and at rules.
func paragraphs(s string) []string {
	var all []string
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			all = append(all, strings.Join(lines, "\n"))
			lines = nil
		}
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		if strings.TrimSpace(line) == "" || rule.MatchString(line) {
			flush()
			continue
		}
		lines = append(lines, line)
	}
	flush()
	return all
}
