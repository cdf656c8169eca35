// SPDX-License-Identifier: Apache-2.0

// Package browser tests the page of internal/monitor in Chromium.
//
// The tests drive a headless Chromium over pipes, by the Chrome DevTools Protocol (chromium_test.go).
// They skip where there is no Chromium; scripts/setup.sh installs Debian's. testdata/axe has axe-core,
// which checks the accessibility of the page. It is unmodified, and part of no program.
//
// With GVW_SCREENSHOTS=DIR the tests write pictures of the page into DIR.
package browser
