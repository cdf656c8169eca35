// SPDX-License-Identifier: Apache-2.0

package cli

import "log/slog"

// NoteLevel is the level of notes about options. --quiet suppresses them.
const NoteLevel = slog.LevelWarn

// LogLevel returns the least level of log lines for --quiet and --log_level. As in vw
// --log_level overrides --quiet.
func LogLevel(quiet bool, name string) slog.Level {
	switch name {
	case "info":
		return slog.LevelInfo
	case "warn":
		return slog.LevelWarn
	case "error", "critical", "off": // an error that ends the run is always printed
		return slog.LevelError
	}
	if quiet {
		return slog.LevelError
	}
	return slog.LevelInfo
}
