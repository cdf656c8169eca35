// SPDX-License-Identifier: Apache-2.0

package siteconf

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits: site files have some hundred kilobytes at most, and include each other to a small
// depth.
const (
	maxFile  = 16 << 20
	maxDepth = 20
	maxValue = 1 << 20 // bytes of a value with all its references expanded
	maxRefs  = 1000    // references in a value
)

// Conf has the properties of the site files. The zero value has none.
type Conf struct {
	// Dir is the directory of the site files; empty: none were read.
	Dir string

	props  map[string]property
	lookup func(name string) string
}

type property struct {
	value string
	final bool
}

// Load reads the site files in a directory. lookup returns the value of environment
// variables, to which values may refer; nil: there are none.
func Load(dir string, lookup func(name string) string) (*Conf, error) {
	c := &Conf{Dir: dir, props: map[string]property{}, lookup: lookup}
	found := 0
	var errs []error
	for _, name := range []string{"core-site.xml", "hdfs-site.xml"} {
		switch err := c.file(filepath.Join(dir, name), 0); {
		case err == nil:
			found++
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 && found == 0 {
		errs = append(errs, fmt.Errorf("%s has no core-site.xml or hdfs-site.xml: set HADOOP_CONF_DIR to their directory", dir))
	}
	return c, errors.Join(errs...)
}

// Set sets a property, as -D does for Hadoop's own programs.
func (c *Conf) Set(name, value string) {
	if c.props == nil {
		c.props = map[string]property{}
	}
	c.props[name] = property{value: value, final: true}
}

func (c *Conf) file(name string, depth int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	err = c.read(io.LimitReader(f, maxFile), filepath.Dir(name), depth)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// element is a child of <configuration>.
type element struct {
	XMLName xml.Name
	Name    string  `xml:"name"`
	Value   string  `xml:"value"`
	Final   string  `xml:"final"`
	Href    string  `xml:"href,attr"`
	Missing *string `xml:"fallback"` // of an include: the file may be missing
}

func (c *Conf) read(r io.Reader, dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("files include each other more than %d deep", maxDepth)
	}
	d := xml.NewDecoder(r)
	for inside := false; ; {
		t, err := d.Token()
		if err == io.EOF {
			if !inside {
				return errors.New("it has no <configuration>")
			}
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local == "configuration" {
			inside = true
			continue
		}
		if !inside {
			return fmt.Errorf("it begins with <%s>: want <configuration>", start.Name.Local)
		}
		var e element
		if err := d.DecodeElement(&e, &start); err != nil {
			return err
		}
		if err := c.take(e, dir, depth); err != nil {
			return err
		}
	}
}

func (c *Conf) take(e element, dir string, depth int) error {
	switch e.XMLName.Local {
	case "property":
		name := strings.TrimSpace(e.Name)
		if name == "" || c.props[name].final {
			return nil
		}
		c.props[name] = property{value: e.Value, final: strings.TrimSpace(e.Final) == "true"}
	case "include":
		name := e.Href
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		err := c.file(name, depth+1)
		if errors.Is(err, fs.ErrNotExist) && e.Missing != nil {
			return nil
		}
		return err
	}
	return nil
}

// Get returns a property with its references expanded; empty: it is not set.
func (c *Conf) Get(name string) string {
	e := expansion{conf: c, refs: maxRefs, bytes: maxValue}
	return strings.TrimSpace(e.expand(c.raw(name), 0))
}

func (c *Conf) raw(name string) string {
	if c == nil {
		return ""
	}
	return c.props[name].value
}

// expansion is the expansion of one value. It is bounded, although values may refer to
// themselves and to each other many times.
type expansion struct {
	conf        *Conf
	refs, bytes int // remaining limits
}

// expand expands ${name}; unknown names, and references beyond the limits, stay unchanged.
func (e *expansion) expand(value string, depth int) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(value, "${")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			b.WriteString("${" + rest)
			return b.String()
		}
		v, known := "", false
		if depth < maxDepth && e.refs > 0 {
			v, known = e.conf.reference(name)
		}
		if e.refs, e.bytes = e.refs-1, e.bytes-len(v); known && e.bytes >= 0 {
			b.WriteString(e.expand(v, depth+1))
		} else {
			b.WriteString("${" + name + "}")
		}
		value = after
	}
}

func (c *Conf) reference(name string) (value string, known bool) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		env, def, hasDef := strings.Cut(env, ":-")
		if !hasDef {
			env, def, hasDef = strings.Cut(env, "-")
		}
		if c.lookup != nil {
			if v := c.lookup(env); v != "" {
				return v, true
			}
		}
		return def, hasDef
	}
	p, ok := c.props[name]
	return p.value, ok
}

// List returns the values of a comma-separated property.
func (c *Conf) List(name string) []string {
	var all []string
	for v := range strings.SplitSeq(c.Get(name), ",") {
		if v = strings.TrimSpace(v); v != "" {
			all = append(all, v)
		}
	}
	return all
}

// Is reports whether a property is true.
func (c *Conf) Is(name string) bool { return strings.EqualFold(c.Get(name), "true") }
