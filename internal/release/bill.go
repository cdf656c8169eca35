// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A spdxPackage is a module in the form of SPDX 2.3.
type spdxPackage struct {
	ID       string       `json:"SPDXID"`
	Name     string       `json:"name"`
	Version  string       `json:"versionInfo"`
	Location string       `json:"downloadLocation"`
	Analyzed bool         `json:"filesAnalyzed"`
	Refs     []spdxRefURL `json:"externalRefs"`
}

type spdxRefURL struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// bill returns the software bill of materials of the programs, as SPDX 2.3: the modules that the
// linker has recorded in them, as go version -m prints them, and Go itself.
func (r *release) bill(name string, paths map[string]string) ([]byte, error) {
	modules := map[string]string{}
	for _, program := range slices.Sorted(maps.Keys(paths)) {
		info, err := buildinfo.ReadFile(paths[program])
		if err != nil {
			return nil, fmt.Errorf("the modules of %s: %w", program, err)
		}
		modules[info.Main.Path] = r.version
		modules["stdlib"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[m.Path] = m.Version
		}
	}
	var packages []spdxPackage
	var relations []spdxRelation
	for i, path := range slices.Sorted(maps.Keys(modules)) {
		id := fmt.Sprintf("SPDXRef-Package-%d", i)
		packages = append(packages, spdxPackage{
			ID: id, Name: path, Version: modules[path], Location: "NOASSERTION",
			Refs: []spdxRefURL{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + modules[path]}},
		})
		relations = append(relations, spdxRelation{"SPDXRef-DOCUMENT", "DESCRIBES", id})
	}
	return json.MarshalIndent(map[string]any{
		"spdxVersion":       "SPDX-2.3",
		"dataLicense":       "CC0-1.0",
		"SPDXID":            "SPDXRef-DOCUMENT",
		"name":              name,
		"documentNamespace": "https://gvw.invalid/spdx/" + name + "-" + r.commit,
		"creationInfo": map[string]any{
			"created": r.date.UTC().Format(time.RFC3339), "creators": []string{"Tool: gvw-release"},
		},
		"packages":      packages,
		"relationships": relations,
	}, "", "  ")
}
