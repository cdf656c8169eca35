// SPDX-License-Identifier: Apache-2.0

package hadoop

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Properties returns the properties of a Hadoop configuration file, such as yarn-site.xml.
// The last value of a name counts, unless an earlier one is final.
func Properties(text []byte) (map[string]string, error) {
	var file struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
			Final string `xml:"final"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("hadoop: not a configuration file: %w", err)
	}
	all, final := map[string]string{}, map[string]bool{}
	for _, p := range file.Property {
		name := strings.TrimSpace(p.Name)
		if name == "" || final[name] {
			continue
		}
		all[name] = strings.TrimSpace(p.Value)
		final[name] = strings.TrimSpace(p.Final) == "true"
	}
	return all, nil
}

// ResourceManagers returns the HTTP addresses of YARN's ResourceManagers from the properties of
// yarn-site.xml: one, or those of a cluster with several.
func ResourceManagers(site map[string]string) []string {
	address := func(suffix string) string {
		if a := site["yarn.resourcemanager.webapp.address"+suffix]; a != "" && !strings.Contains(a, "${") {
			return a
		}
		if host := site["yarn.resourcemanager.hostname"+suffix]; host != "" {
			return host + ":8088"
		}
		return ""
	}
	var all []string
	for id := range strings.SplitSeq(site["yarn.resourcemanager.ha.rm-ids"], ",") {
		if a := address("." + strings.TrimSpace(id)); strings.TrimSpace(id) != "" && a != "" {
			all = append(all, a)
		}
	}
	if a := address(""); len(all) == 0 && a != "" {
		all = append(all, a)
	}
	return all
}
