// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/gvw-project/gvw/hdfsio"
)

// List returns the files that match a pattern, sorted by name. As in Hadoop, names that begin
// with a dot or an underscore match only patterns that begin with it.
func (f *FS) List(ctx context.Context, pattern string) ([]hdfsio.Info, error) {
	p, err := f.path("list", pattern)
	if err != nil {
		return nil, err
	}
	if _, err := path.Match(p, ""); err != nil {
		return nil, &hdfsio.Error{Op: "list", Name: pattern, By: f.b.String(), Err: err, Advice: "check the brackets"}
	}
	found := []hdfsio.Info{{Name: "/", Mode: fs.ModeDir}}
	known := p == "/" // the matches so far exist
	if known {
		info, err := f.stat(ctx, "list", pattern)
		if err != nil {
			return nil, err
		}
		found[0] = info
		found[0].Name = "/"
	}
	for element := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if element == "" {
			break
		}
		if known { // a file has no entries
			found = slices.DeleteFunc(found, func(info hdfsio.Info) bool { return !info.Mode.IsDir() })
		}
		if literal, ok := unescape(element); ok {
			for i := range found {
				found[i].Name = path.Join(found[i].Name, literal)
			}
			known = false
			continue
		}
		if found, err = f.matches(ctx, found, element); err != nil {
			return nil, err
		}
		known = true
	}
	infos := make([]hdfsio.Info, 0, len(found))
	for _, info := range found {
		name := f.cfg.Prefix + info.Name
		if !known {
			info, err = f.stat(ctx, "list", name)
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		info.Name = name
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b hdfsio.Info) int { return cmp.Compare(a.Name, b.Name) })
	return infos, nil
}

// matches returns the entries of some directories that match an element of a pattern.
func (f *FS) matches(ctx context.Context, folders []hdfsio.Info, element string) (found []hdfsio.Info, err error) {
	for _, folder := range folders {
		var infos []hdfsio.Info
		err := f.persist(ctx, "list", f.cfg.Prefix+folder.Name, func() (err error) {
			infos, err = f.b.ReadDir(folder.Name)
			return err
		})
		if gone(err) {
			continue // no such directory, or a file
		}
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if ok, _ := path.Match(element, info.Name); !ok || hidden(element, info.Name) { // List has checked the pattern
				continue
			}
			info.Name = path.Join(folder.Name, info.Name)
			found = append(found, info)
		}
	}
	return found, nil
}

// gone reports whether an error means that there is nothing to match.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func hidden(element, name string) bool {
	return hdfsio.HiddenFrom(element, name) || strings.HasPrefix(name, "_") && !strings.HasPrefix(element, "_")
}

// unescape returns the only name that an element of a pattern matches; ok: there is only one.
func unescape(element string) (literal string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(element); i++ {
		switch element[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(element) {
				return "", false
			}
		}
		b.WriteByte(element[i])
	}
	return b.String(), true
}
